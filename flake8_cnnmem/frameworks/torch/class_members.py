"""What objects of torch's classes have, besides modules and tensors, as measured with 2.13.0.

Written by tests/oracle/measure_members.py. What is here and not followed is a cause; what is not, is an
AttributeError.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.existing_names import ExistingNames

MEMBERS = ExistingNames(
    {
        "torch.Generator": """
            clone_state device get_offset get_state graphsafe_get_state graphsafe_set_state initial_seed manual_seed
            seed set_offset set_state
        """,
        "torch.Size": """
            count index numel
        """,
        "torch.amp.GradScaler": """
            get_backoff_factor get_growth_factor get_growth_interval get_scale is_enabled load_state_dict
            per_device_and_dtype_grads retval scale set_backoff_factor set_growth_factor set_growth_interval stash
            state_dict step unscale_ update
        """,
        "torch.autocast": """
            custom_backend_name custom_device_mod device fast_dtype prev prev_cache_enabled prev_fastdtype
        """,
        "torch.device": """
            index type
        """,
        "torch.distributions.categorical.Categorical": """
            arg_constraints batch_shape cdf entropy enumerate_support event_shape expand has_enumerate_support
            has_rsample icdf log_prob logits mean mode param_shape perplexity probs rsample sample sample_n
            set_default_validate_args stddev support variance
        """,
        "torch.distributions.normal.Normal": """
            arg_constraints batch_shape cdf entropy enumerate_support event_shape expand has_enumerate_support
            has_rsample icdf loc log_prob mean mode perplexity result rsample sample sample_n scale
            set_default_validate_args stddev support variance
        """,
        "torch.dtype": """
            abbr is_complex is_floating_point is_signed itemsize to_complex to_real
        """,
        "torch.finfo": """
            bits dtype eps max min resolution smallest_normal tiny
        """,
        "torch.iinfo": """
            bits dtype max min
        """,
        "torch.nn.utils.rnn.PackedSequence": """
            batch_sizes byte char count cpu cuda data double float half index int is_cuda is_pinned long pin_memory
            short sorted_indices to unsorted_indices
        """,
        "torch.optim.lr_scheduler.ChainedScheduler": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.ConstantLR": """
            base_lrs factor get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step total_iters
        """,
        "torch.optim.lr_scheduler.CosineAnnealingLR": """
            T_max base_lrs eta_min get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts": """
            T_0 T_cur T_i T_mult base_lrs eta_min get_last_lr get_lr last_epoch load_state_dict optimizer state_dict
            step
        """,
        "torch.optim.lr_scheduler.CyclicLR": """
            base_lrs base_momentums cycle_momentum gamma get_last_lr get_lr last_epoch load_state_dict max_lrs
            max_momentums mode optimizer scale_fn scale_mode state_dict step step_ratio total_size use_beta1
        """,
        "torch.optim.lr_scheduler.ExponentialLR": """
            base_lrs gamma get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.LRScheduler": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.LambdaLR": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict lr_lambdas optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.LinearLR": """
            base_lrs end_factor get_last_lr get_lr last_epoch load_state_dict optimizer start_factor state_dict step
            total_iters
        """,
        "torch.optim.lr_scheduler.MultiStepLR": """
            base_lrs gamma get_last_lr get_lr last_epoch load_state_dict milestones optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.MultiplicativeLR": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict lr_lambdas optimizer state_dict step
        """,
        "torch.optim.lr_scheduler.OneCycleLR": """
            anneal_func base_lrs cycle_momentum get_last_lr get_lr last_epoch load_state_dict optimizer state_dict
            step total_steps use_beta1
        """,
        "torch.optim.lr_scheduler.PolynomialLR": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict optimizer power state_dict step total_iters
        """,
        "torch.optim.lr_scheduler.ReduceLROnPlateau": """
            base_lrs best cooldown cooldown_counter default_min_lr eps factor get_last_lr get_lr in_cooldown
            last_epoch load_state_dict min_lrs mode mode_worse num_bad_epochs optimizer patience state_dict step
            threshold threshold_mode
        """,
        "torch.optim.lr_scheduler.SequentialLR": """
            base_lrs get_last_lr get_lr last_epoch load_state_dict optimizer recursive_undo state_dict step
        """,
        "torch.optim.lr_scheduler.StepLR": """
            base_lrs gamma get_last_lr get_lr last_epoch load_state_dict optimizer state_dict step step_size
        """,
        "torch.optim.optimizer.Optimizer": """
            OptimizerPostHook OptimizerPreHook add_param_group defaults load_state_dict param_groups param_mappings
            param_set per_device_and_dtype_grads profile_hook_step register_load_state_dict_post_hook
            register_load_state_dict_pre_hook register_state_dict_post_hook register_state_dict_pre_hook
            register_step_post_hook register_step_pre_hook state state_dict step zero_grad
        """,
        "torch.utils.data.BatchSampler": """
            batch_size drop_last sampler
        """,
        "torch.utils.data.ChainDataset": """
            datasets
        """,
        "torch.utils.data.ConcatDataset": """
            cummulative_sizes cumsum cumulative_sizes datasets
        """,
        "torch.utils.data.DataLoader": """
            batch_sampler batch_size check_worker_number_rationality collate_fn dataset drop_last generator in_order
            multiprocessing_context num_workers persistent_workers pin_memory pin_memory_device prefetch_factor
            sampler timeout worker_init_fn
        """,
        "torch.utils.data.Dataset": """

        """,
        "torch.utils.data.DistributedSampler": """
            dataset drop_last epoch num_replicas num_samples rank seed set_epoch shuffle total_size
        """,
        "torch.utils.data.IterableDataset": """

        """,
        "torch.utils.data.RandomSampler": """
            data_source generator num_samples replacement
        """,
        "torch.utils.data.Sampler": """

        """,
        "torch.utils.data.SequentialSampler": """
            data_source
        """,
        "torch.utils.data.StackDataset": """
            datasets dict_batch list_batch tuple_batch
        """,
        "torch.utils.data.Subset": """
            dataset indices
        """,
        "torch.utils.data.SubsetRandomSampler": """
            generator indices
        """,
        "torch.utils.data.TensorDataset": """
            tensors
        """,
        "torch.utils.data.WeightedRandomSampler": """
            generator num_samples replacement weights
        """,
    }
)
