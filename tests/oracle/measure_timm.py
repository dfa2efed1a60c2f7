"""Measures timm's architectures with torch itself: fixtures/truth/timm.json, in the form of truth/torchvision.json.

Run by hand: `python tests/oracle/measure_timm.py ZOO [TEXT]`, where ZOO is the folder into which the wheels of timm
and torchvision are unpacked (torchvision's Python is enough, see torchvision_ops.py). With TEXT only the
architectures whose name contains it are measured and printed, and nothing is written.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

sys.path.insert(0, str(Path(__file__).parent))
import torchvision_ops  # noqa: F401  (declares the operators, before timm imports torchvision)
from torch_measure import measure

TARGET = Path(__file__).parents[2] / "fixtures" / "truth" / "timm.json"
BATCH = 8

# One line a module of timm/models: at least one architecture of each convolutional family, then transformers,
# hybrids and MLPs. Variants are chosen for what they add (another block, norm, attention, pooling or stem).
ARCHITECTURES = """
byoanet botnet26t_256 halonet26t eca_halonext26ts lambda_resnet26t
byobnet repvgg_a0 gernet_m mobileone_s1 regnetz_b16 gcresnext26ts resnet50_mlp resnet51q bat_resnext26ts resnet50_clip
convmixer convmixer_768_32
convnext convnext_tiny convnext_atto convnextv2_atto convnext_zepto_rms
cspnet cspresnet50 cspdarknet53 darknet53 cs3darknet_m cs3darknet_focus_s cs3se_edgenet_x
cspnext cspnext_s
densenet densenet121 densenetblur121d
dla dla34 dla60 dla60x dla60_res2net
dpn dpn68 dpn68b dpn92
edgenext edgenext_small
efficientnet efficientnet_b0 efficientnet_b3 efficientnetv2_s tf_efficientnet_b0 efficientnet_lite0 mobilenetv2_100 \
 mnasnet_100 mixnet_s fbnetc_100 spnasnet_100 tinynet_e efficientnet_cc_b0_4e semnasnet_100 efficientnet_b0_gn
efficientvim efficientvim_m1
efficientvit_mit efficientvit_b1
efficientvit_msra efficientvit_m1
fasternet fasternet_t0
fastvit fastvit_t8 fastvit_sa12
ghostnet ghostnet_100 ghostnetv2_100 ghostnetv3_100
hardcorenas hardcorenas_a
hgnet hgnet_tiny hgnetv2_b0
hrnet hrnet_w18_small hrnet_w18
iformer iformer_t
inception_next inception_next_tiny
inception_resnet_v2 inception_resnet_v2
inception_v3 inception_v3
inception_v4 inception_v4
lcnetv2 lcnetv2_small
mambaout mambaout_femto
metaformer poolformer_s12 convformer_s18 caformer_s18
mobilenetv3 mobilenetv3_large_100 mobilenetv3_small_100 tf_mobilenetv3_small_minimal_100 fbnetv3_b lcnet_100 \
 mobilenetv4_conv_small mobilenetv4_hybrid_medium
mobilevit mobilevit_s mobilevitv2_100
nasnet nasnetalarge
nfnet dm_nfnet_f0 nf_regnet_b1 nf_resnet50 eca_nfnet_l0
pnasnet pnasnet5large
rdnet rdnet_tiny
regnet regnetx_032 regnety_032 regnety_002 regnetz_040 regnetv_040
repghost repghostnet_100
repvit repvit_m1
res2net res2net50_26w_4s res2next50
resnest resnest14d resnest50d resnest50d_4s2x40d
resnet resnet18 resnet26t resnet50 resnet50d resnext50_32x4d seresnet50 ecaresnet50t wide_resnet50_2 resnetblur50 \
 resnetaa50 resnetrs50 seresnextaa101d_32x8d ecaresnetlight
resnetv2 resnetv2_50 resnetv2_50x1_bit resnetv2_50d_gn resnetv2_50d_evos
rexnet rexnet_100 rexnetr_100
selecsls selecsls42b
senet legacy_seresnet18 legacy_seresnet50 legacy_senet154
shvit shvit_s1
sknet skresnet18 skresnext50_32x4d
starnet starnet_s1
swiftformer swiftformer_xs
tresnet tresnet_m
vgg vgg11 vgg16_bn
vovnet ese_vovnet19b_dw eca_vovnet39b vovnet39a
xception legacy_xception
xception_aligned xception41 xception65p
beit beit_base_patch16_224
cait cait_xxs24_224
coat coat_tiny coat_lite_tiny
convit convit_tiny
crossvit crossvit_9_240
davit davit_tiny
deit deit3_small_patch16_224 deit_tiny_distilled_patch16_224
efficientformer efficientformer_l1
efficientformer_v2 efficientformerv2_s0
focalnet focalnet_tiny_srf
gcvit gcvit_xxtiny
hiera hiera_tiny_224
levit levit_128s levit_conv_128s
maxxvit maxvit_tiny_rw_224 coatnet_0_rw_224
mlp_mixer mixer_s32_224 resmlp_12_224 gmlp_s16_224
mvitv2 mvitv2_tiny
nextvit nextvit_small
pit pit_xs_224
pvt_v2 pvt_v2_b1
sequencer sequencer2d_s
swin_transformer swin_tiny_patch4_window7_224
swin_transformer_v2 swinv2_tiny_window8_256
tiny_vit tiny_vit_5m_224
tnt tnt_s_patch16_224
twins twins_svt_small twins_pcpvt_small
visformer visformer_tiny
vision_transformer vit_tiny_patch16_224 vit_base_patch16_224
vision_transformer_hybrid vit_tiny_r_s16_p8_224
volo volo_d1_224
xcit xcit_nano_12_p16_224
"""

ABOUT = (
    "Measured from PyTorch itself on fake tensors, as torchvision.json: see there for saved_bytes and peak_bytes "
    "(where given: one training step, train mode, cross entropy, foreach Adam). input_shape is the default_cfg's "
    "input_size. layers: the leaf modules in call order with the output shape without the batch."
)


def entries() -> list[tuple[str, str]]:
    lines = ARCHITECTURES.replace("\\\n", "").strip().splitlines()
    return [(line.split()[0], name) for line in lines for name in line.split()[1:]]


READ_VALUES = ("calculate_drop_path_rates", "generate_regnet")


def outside_fake(function: Callable[..., Any]) -> Callable[..., Any]:
    """What reads widths and rates out of a tensor's values: fake tensors have none."""

    def real(*arguments: Any, **keywords: Any) -> Any:
        with unset_fake_temporarily():
            return function(*arguments, **keywords)

    return real


def main(zoo: str, only: str = "") -> None:
    sys.path.insert(0, zoo)
    import timm

    for module in [module for name, module in sys.modules.items() if name.startswith("timm.")]:
        for name in READ_VALUES:
            if hasattr(module, name):
                setattr(module, name, outside_fake(getattr(module, name)))
    regnet = timm.models.regnet.RegNet
    regnet._get_stage_args = outside_fake(regnet._get_stage_args)
    models, failed = [], 0
    for file, name in entries():
        if only not in name:
            continue
        started = time.perf_counter()
        entry = timm.models.model_entrypoint(name)
        size = tuple(timm.get_pretrained_cfg(name).input_size)
        try:
            record = measure(entry, [size], batch=BATCH)
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        models.append({"target": f"timm/models/{file}.py::{name}()", **record})
        print(f"{name} {size} {record['parameters']} {time.perf_counter() - started:.1f}s", flush=True)
    print(len(models), "measured,", failed, "failed")
    if only:
        return
    about = {"about": ABOUT, "torch": torch.__version__.split("+")[0], "timm": timm.__version__}
    about["package"] = f"timm=={timm.__version__}"
    TARGET.write_text(json.dumps({**about, "models": models}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
