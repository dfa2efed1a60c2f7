"""Fixes over the bugs as people make them: what is mended is the right twin's network, the rest is left as it is."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import FileReport, analyse
from flake8_cnnmem.fixes import Mended, mended
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load

BUGS = Path(__file__).resolve().parent.parent.parent / "fixtures" / "bugs"
NAMES = sorted(path.stem.removesuffix("_wrong") for path in BUGS.glob("*_wrong.py"))
ON = {check.code for check in checks.every() if check.default}

MENDED = {
    "keras_concatenate_axis",
    "keras_conv1d_flat",
    "keras_conv1d_rank",
    "keras_embedding_lstm",
    "keras_every_step",
    "keras_fit_ids_categorical",
    "keras_fit_mask_size",
    "keras_fit_onehot_sparse",
    "keras_lstm_stack",
    "keras_missing_channels",
    "keras_multiply",
    "keras_residual_add",
    "keras_resnet_shortcut",
    "keras_stacked_lstm",
    "keras_subclass_head",
    "torch_actor_critic_shared",
    "torch_adaptive_pool",
    "torch_argparse_image_size",
    "torch_attention_batch_first",
    "torch_attention_time_first",
    "torch_attention_width",
    "torch_autoencoder_output_padding",
    "torch_batch_hardcoded_view",
    "torch_batch_norm_sequence",
    "torch_batch_norm_width",
    "torch_bce_column",
    "torch_bce_target_shape",
    "torch_bidirectional_head",
    "torch_bmm_batch",
    "torch_cat_channels",
    "torch_ce_logits_sequence_last",
    "torch_channels_chain",
    "torch_channels_last",
    "torch_chunk_gates",
    "torch_cifar_view_reshape",
    "torch_class_token",
    "torch_cnn_lstm_feature",
    "torch_collate",
    "torch_conditional_batch",
    "torch_config_width",
    "torch_contrastive_logits_matmul",
    "torch_conv1d_channels_last",
    "torch_conv1d_sequence",
    "torch_conv3d_clip",
    "torch_conv3d_depth",
    "torch_critic_without_action",
    "torch_cross_attention_dims",
    "torch_cross_entropy_column",
    "torch_cross_entropy_sequence",
    "torch_decoder_input",
    "torch_detection_classes_background",
    "torch_film_axes",
    "torch_flatten_forgotten",
    "torch_flatten_forgotten_sequential",
    "torch_flatten_width",
    "torch_fused_branches",
    "torch_fusion_width",
    "torch_gan_discriminator_image_size",
    "torch_gan_valid_shape",
    "torch_gan_width",
    "torch_glu_halves",
    "torch_graph_weight_orientation",
    "torch_gru_cell_one",
    "torch_gru_layers_state",
    "torch_gru_state_swapped",
    "torch_head_literal_vs_view",
    "torch_head_replaced_in_features",
    "torch_heads_reshape",
    "torch_inception_aux_tuple",
    "torch_inherit",
    "torch_layer_norm_channels",
    "torch_linear_features",
    "torch_lstm_cell_batch",
    "torch_lstm_state_directions",
    "torch_lstm_width",
    "torch_mask_length",
    "torch_masked_mean_axis",
    "torch_matmul",
    "torch_matmul_transposed",
    "torch_maxunpool",
    "torch_mha_mask_shape",
    "torch_mixer_transposed",
    "torch_mnist_no_padding",
    "torch_mobilenet_last_channel",
    "torch_ncf_mlp",
    "torch_norm_fn",
    "torch_patch_merging_norm",
    "torch_permute_before_linear",
    "torch_pixel_shuffle_width",
    "torch_pool_kernel_changed",
    "torch_pool_then_linear",
    "torch_pyramid_odd",
    "torch_qkv_split_heads",
    "torch_reduced_hidden_mlp",
    "torch_residual_add",
    "torch_resnet_expansion_fc",
    "torch_scores_not_transposed",
    "torch_seq2seq_cat",
    "torch_siamese_head",
    "torch_skip_stride",
    "torch_split_total",
    "torch_squeeze_excite",
    "torch_state_tuple",
    "torch_stn",
    "torch_textcnn",
    "torch_timestep_mlp",
    "torch_transformer_width",
    "torch_transposed_off_by_one",
    "torch_transposed_skip",
    "torch_true_division",
    "torch_unet_bilinear_skip",
    "torch_unet_third_skip",
    "torch_unet_up_channels",
    "torch_unfold_patches",
    "torch_vae_latent_decoder",
    "torch_view",
    "torch_wrong_expand_mask",
}
"""Those whose message names the one size that is right, or that have one known remedy which mends them and adds
nothing. In the others two things have to agree, and which one is meant is not in the code: two widths of a sum, an
input's size."""

OTHERWISE = {
    "torch_array_not_permuted",
    "torch_atari_stride_changed",
    "torch_attention_query_batch",
    "torch_conv_transpose_kernel",
    "torch_crnn_ctc_width",
    "torch_dataset_grayscale",
    "torch_dataset_hwc",
    "torch_gan_noise_dim",
    "torch_layer_norm_not_last",
    "torch_max_with_dim_tuple",
    "torch_mlp_chain_outlier",
    "torch_patch_embed_reshape",
    "torch_siamese_cat_once",
    "torch_squeeze_all",
    "torch_stack_instead_of_cat",
    "torch_stack_states",
    "torch_unet_odd_input",
    "torch_unsqueeze_axis",
}
"""Mended by the size that the message names, where the twin joins other tensors or changes another number instead; by
a view of a parameter, where the twin copies it; by another order of the axes at the call, where the twin gives them
that order before."""


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


def report_on(path: str, text: str) -> FileReport:
    return analyse(Source(path, text), Settings())


def found_in(report: FileReport) -> set[tuple[int, str]]:
    return {(finding.line, finding.code) for finding in checks.run(report, Settings(), ON)}


def networks(report: FileReport) -> list[list[tuple[str, tuple[int | None, ...], int]]]:
    return [[(row.type, row.output_shape, row.parameters) for row in model.rows] for model in report.reports]


def test_each_is_counted_once() -> None:
    assert set(NAMES) > MENDED | OTHERWISE
    assert not MENDED & OTHERWISE
    assert (len(MENDED), len(NAMES)) == (117, 374)


# One test for each file, not one for each thing that is held of it: the file is analysed once.
@pytest.mark.parametrize("name", sorted(MENDED | OTHERWISE))
def test_what_is_mended_is_the_right_network(name: str) -> None:
    source = load(str(BUGS / f"{name}_wrong.py"))
    result = mended(source, Settings())
    now = report_on(source.path, result.text)
    assert found_in(now) <= found_in(report_on(source.path, source.text))
    if name in MENDED:
        one_line_is_changed(source.text, result)
        right = analyse(load(str(BUGS / f"{name}_right.py")), Settings())
        assert found_in(now) == set()
        assert networks(now) == networks(right)
        assert [model.status for model in now.reports] == [model.status for model in right.reports]
        again = mended(Source(source.path, result.text), Settings())
        assert (again.fixes, again.left, again.text) == ((), (), result.text)


def one_line_is_changed(text: str, result: Mended) -> None:
    """A fix changes one line or adds one, and keeps what stands before and behind the edit."""
    before, now = text.split("\n"), result.text.split("\n")
    changes = [each for each in SequenceMatcher(None, before, now, autojunk=False).get_opcodes() if each[0] != "equal"]
    [(_, first, last, begin, end)] = changes
    assert (last - first, end - begin) in ((1, 1), (0, 1))
    [fix] = result.fixes
    kept = before[first - (first == last)]
    for edit in fix.edits:
        assert kept[: min(each.column for each in fix.edits) - 1] in now[begin - (first == last)]
        assert edit.text.rstrip(", \n") in now[begin]


@pytest.mark.parametrize("name", sorted(set(NAMES) - MENDED - OTHERWISE))
def test_what_is_not_certain_is_left(name: str) -> None:
    source = load(str(BUGS / f"{name}_wrong.py"))
    result = mended(source, Settings())
    assert (result.fixes, result.text) == ((), source.text)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_changed_in_what_is_right(name: str) -> None:
    source = load(str(BUGS / f"{name}_right.py"))
    assert mended(source, Settings()).text == source.text
