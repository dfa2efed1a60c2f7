"""The names that flax has, by namespace: those of 0.12.8, and those that earlier versions had.

Written by tests/oracle/measure_names.py. What is here and not followed is a cause, what is not here an AttributeError.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.existing_names import ExistingNames

NAMES = ExistingNames(
    {
        "flax.linen": """
            BatchApply BatchNorm Bidirectional Conv ConvLSTMCell ConvLocal ConvTranspose Dense DenseGeneral DenyList
            Dropout Einsum Embed Fp8DirectDotGeneralOp Fp8DotGeneral Fp8DotGeneralOp Fp8Einsum FrozenDict GRUCell
            GroupNorm InstanceNorm LSTMCell LayerNorm LogicallyPartitioned MGUCell Module MultiHeadAttention
            MultiHeadDotProductAttention NANOOFp8DotGeneralOp OptimizedLSTMCell PARTITION_NAME PReLU Partitioned
            RMSNorm RNN RNNCellBase SelfAttention Sequential SimpleCell SpectralNorm Variable WeightNorm activation
            add_metadata_axis apply attention avg_pool batch_apply broadcast celu checkpoint combinators
            combine_masks compact compact_name_scope cond custom_vjp disable_named_call dot_product_attention
            dot_product_attention_weights dtypes elu enable_named_call fold_rngs fp8_ops gelu get_logical_axis_rules
            get_partition_spec get_sharding glu grad hard_sigmoid hard_silu hard_swish hard_tanh init
            init_with_output initializers intercept_methods jit jvp kw_only_dataclasses leaky_relu linear
            log_sigmoid log_softmax logical_axis_rules logical_to_mesh logical_to_mesh_axes logical_to_mesh_sharding
            logsumexp make_attention_mask make_causal_mask map_variables max_pool merge_param meta module named_call
            normalization normalize nowrap one_hot ones ones_init override_named_call pool pooling recurrent relu
            relu6 remat remat_scan scan selu set_logical_axis_rules share_scope sigmoid silu soft_sign softmax
            softplus spmd standardize stochastic summary swish switch tabulate tanh transforms unbox value_and_grad
            vjp vmap while_loop with_logical_constraint with_logical_partitioning with_partitioning zeros zeros_init
        """,
        "flax.nnx": """
            A All Any BatchNorm BatchStat Bidirectional Cache Carry Conv ConvTranspose Data Dict DiffState Dropout
            EMA Einsum Embed Everything FlatState GRUCell GraphDef GraphState GroupNorm Initializer InstanceNorm
            Intermediate LSTMCell LayerNorm Linear LinearGeneral List LoRA LoRALinear LoRAParam M MergeContext
            Metric ModelAndOptimizer Module MultiHeadAttention MultiMetric NodeStates Not Nothing Object OfType
            OptArray OptState OptVariable OptimizedLSTMCell Optimizer PARTITION_NAME PReLU Param PathContains
            Perturbation PureState Pytree RMSNorm RNN RNNCellBase RngCount RngKey RngState RngStream Rngs Sequential
            SimpleCell SpectralNorm SplitContext State StateAxes StateSharding Static TrainState UpdateContext
            Variable VariableMetadata WeightNorm WithTag abstract_with_sharding as_abstract as_pure avg_pool bridge
            cached_partial call capture celu check_pytree checkify clone combine_masks compat cond
            current_update_context custom_vjp data dataclass deprecations display dot_product_attention elu
            eval_shape extract filter_state filterlib find_duplicates flatten fori_loop fork_rngs from_flat_state
            from_tree gelu get_abstract_model get_named_sharding get_partition_spec glu grad graph graphdef graphlib
            hard_sigmoid hard_silu hard_swish hard_tanh has_data helpers identity initializers is_data iter_children
            iter_graph iter_module_children iter_modules jit jit_partial jvp leaky_relu log_sigmoid log_softmax
            logical_axis_rules logsumexp make_attention_mask make_causal_mask make_jaxpr map map_state max_pool
            merge merge_context merge_state metrics min_pool module nn object one_hot optimizer pmap pool pop prefix
            proxy_caller pure pytreelib recursive_map register_data_type register_variable_name relu relu6 remat
            replace_by_pure_dict reprlib reseed restore_int_paths restore_rngs rnglib scan selu set_graph_mode
            set_graph_updates set_metadata shard_map sigmoid silu soft_sign softmax softplus split split_context
            split_rngs split_state spmd standardize state statelib static summary swish switch tabulate tanh
            to_flat_state to_pure_dict to_tree tracers training transform_metadata transforms traversals unflatten
            unpack update update_context use_eager_sharding using_eager_sharding value_and_grad var_defaults
            variable_name_from_type variable_type_from_name variablelib variables vars_as view view_info
            visualization vjp vmap while_loop with_attributes with_metadata with_partitioning with_rngs with_vars
            wrappers
        """,
        "jax": """
            Array Device NamedSharding P Ref ShapeDtypeStruct Shard ad allow_f16_reductions api_util
            array_garbage_collection_guard auto_pcast block_until_ready check_tracer_leaks checking_leaks checkpoint
            checkpoint_policies clear_caches closure_convert config copy_to_host_async core custom_batching
            custom_derivatives custom_gradient custom_jvp custom_vjp debug debug_infs debug_key_reuse debug_nans
            default_backend default_device default_matmul_precision default_prng_impl device_count device_get
            device_put devices disable_jit distributed dlpack ds dtypes effects_barrier empty_ref enable_checks
            enable_custom_prng enable_x64 ensure_compile_time_eval errors eval_shape experimental
            explain_cache_misses export extend ffi flatten_util float0 free_ref freeze fwd_and_bwd grad hessian
            host_count host_id host_ids image interpreters jacfwd jacobian jacrev jax2tf_associative_scan_reductions
            jit jvp lax legacy_prng_key lib linear_transpose linearize live_arrays local_device_count local_devices
            log_compiles make_array_from_callback make_array_from_process_local_data
            make_array_from_single_device_arrays make_jaxpr make_mesh make_user_context memory monitoring named_call
            named_scope new_ref nn no_execution no_tracing numpy numpy_dtype_promotion numpy_rank_promotion ops pmap
            print_environment_info process_count process_index process_indices profiler pure_callback random ref
            remat remove_size_one_mesh_axis_from_type reshard scipy set_mesh shard_map sharding smap
            softmax_custom_jvp stages thread_guard threefry_partitionable transfer_guard
            transfer_guard_device_to_device transfer_guard_device_to_host transfer_guard_host_to_device tree
            tree_util typeof typing value_and_grad version vjp vmap
        """,
        "jax.numpy": """
            ComplexWarning abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
            apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition
            argsort argwhere around array array_equal array_equiv array_repr array_split array_str asarray asin
            asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett bfloat16 bincount
            bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
            bitwise_xor blackman block bool bool_ broadcast_arrays broadcast_shapes broadcast_to c_ can_cast cbrt
            cdouble ceil character choose clip column_stack complex128 complex64 complex_ complexfloating compress
            concat concatenate conj conjugate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov
            cross csingle cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices
            diag_indices_from diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d
            einsum einsum_path empty empty_like equal euler_gamma exp exp2 expand_dims expm1 extract eye fabs fft
            fill_diagonal finfo flatnonzero flexible flip fliplr flipud float16 float32 float4_e2m1fn float64
            float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz
            float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_ float_power floating floor floor_divide fmax fmin fmod
            frexp from_dlpack frombuffer fromfile fromfunction fromiter frompyfunc fromstring full full_like gcd
            generic geomspace get_printoptions gradient greater greater_equal hamming hanning heaviside histogram
            histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo imag index_exp indices
            inexact inf inner insert int1 int16 int2 int32 int4 int64 int8 int_ integer interp intersect1d invert
            isclose iscomplex iscomplexobj isdtype isfinite isin isinf isnan isneginf isposinf isreal isrealobj
            isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linalg
            linspace load log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
            logspace mask_indices matmul matrix_transpose matvec max maximum mean median meshgrid mgrid min minimum
            mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean
            nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray ndim negative newaxis
            nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad partition percentile
            permute_dims pi piecewise place poly polyadd polyder polydiv polyfit polyint polymul polysub polyval
            positive pow power printoptions prod promote_types ptp put put_along_axis quantile r_ rad2deg radians
            ravel ravel_multi_index real reciprocal remainder repeat reshape resize result_type right_shift rint
            roll rollaxis roots rot90 round s_ save savez searchsorted select set_printoptions setdiff1d setxor1d
            shape sign signbit signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square
            squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose
            trapezoid tri tril tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from
            true_divide trunc ufunc uint uint1 uint16 uint2 uint32 uint4 uint64 uint8 union1d unique unique_all
            unique_counts unique_inverse unique_values unpackbits unravel_index unsignedinteger unstack unwrap
            vander var vdot vecdot vecmat vectorize vsplit vstack where zeros zeros_like
        """,
        "jax.nn": """
            celu dot_product_attention elu gelu get_scaled_dot_general_config glu hard_sigmoid hard_silu hard_swish
            hard_tanh identity initializers leaky_relu log1mexp log_sigmoid log_softmax logmeanexp logsumexp mish
            one_hot relu relu6 scaled_dot_general scaled_matmul selu sigmoid silu soft_sign softmax softplus
            sparse_plus sparse_sigmoid squareplus standardize swish tanh
        """,
        "jax.lax": """
            AccuracyMode ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers DotAlgorithm DotAlgorithmPreset
            DotDimensionNumbers FftType GatherDimensionNumbers GatherScatterMode Precision PrecisionLike
            RaggedDotDimensionNumbers RandomAlgorithm RoundingMethod ScatterDimensionNumbers Tolerance abs abs_p
            acos acos_p acosh acosh_p add add_p after_all after_all_p all_gather all_gather_p all_to_all
            all_to_all_p and_p approx_max_k approx_min_k approx_top_k_p argmax argmax_p argmin argmin_p asin asin_p
            asinh asinh_p associative_scan atan atan2 atan2_p atan_p atanh atanh_p axis_index axis_index_p axis_size
            batch_matmul bessel_i0e bessel_i0e_p bessel_i1e bessel_i1e_p betainc bitcast_convert_type
            bitcast_convert_type_p bitwise_and bitwise_not bitwise_or bitwise_xor broadcast broadcast_in_dim
            broadcast_in_dim_p broadcast_like broadcast_shapes broadcast_to_rank broadcasted_iota cbrt cbrt_p ceil
            ceil_p clamp clamp_p clz clz_p collapse complex complex_p composite concatenate concatenate_p cond
            cond_p conj conj_p conv conv_dimension_numbers conv_general_dilated conv_general_dilated_local
            conv_general_dilated_p conv_general_dilated_patches conv_general_permutations conv_general_shape_tuple
            conv_shape_tuple conv_transpose conv_transpose_shape_tuple conv_with_general_padding
            convert_element_type convert_element_type_p copy_p cos cos_p cosh cosh_p create_token create_token_p
            cumlogsumexp cumlogsumexp_p cummax cummax_p cummin cummin_p cumprod cumprod_p cumsum cumsum_p
            custom_linear_solve custom_root dce_sink dce_sink_p device_put_p digamma digamma_p div div_p dot
            dot_general dot_general_p dtype dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_slice_p
            dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim dynamic_update_slice_p
            empty eq eq_p eq_to_p erf erf_inv erf_inv_p erf_p erfc erfc_p exp exp2 exp2_p exp_p expand_dims expm1
            expm1_p fft fft_p floor floor_p fori_loop full full_like gather gather_p ge ge_p gt gt_p igamma
            igamma_grad_a igamma_grad_a_p igamma_p igammac igammac_p imag imag_p index_in_dim index_take integer_pow
            integer_pow_p iota iota_p is_finite is_finite_p le le_p le_to_p lgamma lgamma_p linalg linear_solve_p
            log log1p log1p_p log_p logistic logistic_p lt lt_p lt_to_p map max max_p min min_p mul mul_p mulhi
            mulhi_p ne ne_p neg neg_p nextafter nextafter_p not_p optimization_barrier optimization_barrier_p or_p
            pad pad_p padtype_to_pads pbroadcast pcast platform_dependent pmax pmax_p pmean pmin pmin_p polygamma
            polygamma_p population_count population_count_p pow pow_p ppermute ppermute_p precv psend pshuffle psum
            psum_p psum_scatter pswapaxes ragged_all_to_all ragged_all_to_all_p ragged_dot ragged_dot_general
            random_gamma_grad real real_p reciprocal reduce reduce_and reduce_and_p reduce_max reduce_max_p
            reduce_min reduce_min_p reduce_or reduce_or_p reduce_p reduce_precision reduce_precision_p reduce_prod
            reduce_prod_p reduce_sum reduce_sum_p reduce_window reduce_window_max_p reduce_window_min_p
            reduce_window_p reduce_window_shape_tuple reduce_window_sum_p reduce_xor reduce_xor_p
            regularized_incomplete_beta_p rem rem_p reshape reshape_p rev rev_p rng_bit_generator
            rng_bit_generator_p rng_uniform rng_uniform_p round round_p rsqrt rsqrt_p scaled_dot scan scan_p scatter
            scatter_add scatter_add_p scatter_apply scatter_max scatter_max_p scatter_min scatter_min_p scatter_mul
            scatter_mul_p scatter_p scatter_sub scatter_sub_p select select_and_gather_add_p
            select_and_scatter_add_p select_and_scatter_p select_n select_n_p shape_as_value sharding_constraint_p
            shift_left shift_left_p shift_right_arithmetic shift_right_arithmetic_p shift_right_logical
            shift_right_logical_p sign sign_p sin sin_p sinh sinh_p slice slice_in_dim slice_p sort sort_key_val
            sort_p split split_p sqrt sqrt_p square square_p squeeze squeeze_p stack stack_p stage stage_p
            stop_gradient stop_gradient_p sub sub_p switch tan tan_p tanh tanh_p tile tile_p top_k top_k_p transpose
            transpose_p unstack unstack_p while_loop while_p with_sharding_constraint xor_p zeta zeta_p
        """,
        "jax.random": """
            PRNGKey ball bernoulli beta binomial bits categorical cauchy chisquare choice clone dirichlet
            double_sided_maxwell exponential f fold_in gamma generalized_normal geometric gumbel key key_data
            key_dtype key_impl laplace loggamma logistic lognormal maxwell multinomial multivariate_normal normal
            orthogonal pareto permutation poisson rademacher randint random_gamma_p rayleigh split t triangular
            truncated_normal uniform wald weibull_min wrap_key_data
        """,
        "jax.nn.initializers": """
            Initializer constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal
            kaiming_uniform lecun_normal lecun_uniform normal ones orthogonal truncated_normal uniform
            variance_scaling xavier_normal xavier_uniform zeros
        """,
        "jax.Array": """
            T addressable_data addressable_shards all any argmax argmin argpartition argsort astype at byteswap
            choose clip committed compress conj conjugate copy copy_to_host_async cumprod cumsum device diagonal dot
            dtype flat flatten global_shards imag is_fully_addressable is_fully_replicated item itemsize mT max mean
            min nbytes ndim nonzero prod ptp ravel real repeat reshape round searchsorted shape sharding size sort
            squeeze std sum swapaxes take to_device trace transpose var view
        """,
        "optax": """
            AdaptiveGradClipState AddDecayedWeightsState AddNoiseState ApplyEvery ApplyIfFiniteState
            ClipByGlobalNormState ClipState ConditionallyMaskState ConditionallyTransformState EmaState EmptyState
            FactoredState GradientTransformation GradientTransformationExtraArgs InjectHyperparamsState
            InjectStatefulHyperparamsState LookaheadParams LookaheadState MaskOrFn MaskedNode MaskedState
            MonitorState MultiSteps MultiStepsState MultiTransformState NonNegativeParamsState OptState Params
            PartitionState ScalarOrSchedule ScaleByAdaDeltaState ScaleByAdamState ScaleByAdanState
            ScaleByAmsgradState ScaleByBacktrackingLinesearchState ScaleByBeliefState ScaleByLBFGSState
            ScaleByLionState ScaleByNovogradState ScaleByRStdDevState ScaleByRmsState ScaleByRpropState
            ScaleByRssState ScaleBySM3State ScaleByScheduleState ScaleByTrustRatioState ScaleByZoomLinesearchState
            ScaleState Schedule ShouldSkipUpdateFunction SnapshotState TraceState TransformInitFn
            TransformUpdateExtraArgsFn TransformUpdateFn Updates WrappedSchedule ZeroNansState ZoomLinesearchInfo
            adabelief adadelta adafactor adagrad adam adamax adamaxw adamw adan adaptive_grad_clip
            add_decayed_weights add_noise amsgrad apply_every apply_if_finite apply_updates assignment
            bias_correction centralize chain clip clip_by_block_rms clip_by_global_norm conditionally_mask
            conditionally_transform constant_schedule contrib convex_kl_divergence cosine_decay_schedule
            cosine_distance cosine_onecycle_schedule cosine_similarity ctc_loss ctc_loss_with_forward_probs ema
            experimental exponential_decay flatten freeze fromage generalized_kl_divergence global_norm hinge_loss
            huber_loss identity incremental_update init_empty_state inject_hyperparams inject_stateful_hyperparams
            join_schedules keep_params_nonnegative kl_divergence l2_loss lamb lars lbfgs linear_onecycle_schedule
            linear_schedule lion log_cosh lookahead losses masked matrix_inverse_pth_root measure_with_ema
            microbatch microbatching monitor multi_normal multi_transform nadam nadamw named_chain nnls noisy_sgd
            normalize_by_update_norm novograd ntxent optimistic_adam optimistic_adam_v2 optimistic_gradient_descent
            partition per_example_global_norm_clip per_example_layer_norm_clip periodic_update perturbations
            piecewise_constant_schedule piecewise_interpolate_schedule polyak_sgd polynomial_schedule
            power_iteration projections radam rmsprop rprop safe_increment safe_int32_increment safe_norm
            safe_root_mean_squares safe_softmax_cross_entropy scale scale_by_adadelta scale_by_adam scale_by_adamax
            scale_by_adan scale_by_amsgrad scale_by_backtracking_linesearch scale_by_belief
            scale_by_distance_over_gradients scale_by_factored_rms scale_by_lbfgs scale_by_learning_rate
            scale_by_lion scale_by_novograd scale_by_optimistic_gradient scale_by_param_block_norm
            scale_by_param_block_rms scale_by_polyak scale_by_radam scale_by_rms scale_by_rprop scale_by_rss
            scale_by_schedule scale_by_sign scale_by_sm3 scale_by_stddev scale_by_trust_ratio scale_by_yogi
            scale_by_zoom_linesearch scale_gradient schedules second_order selective_transform set_to_zero sgd
            sgdr_schedule sigmoid_binary_cross_entropy sigmoid_focal_loss sign_sgd signum skip_large_updates
            skip_not_finite sm3 smooth_labels snapshot softmax_cross_entropy
            softmax_cross_entropy_with_integer_labels squared_error stateless stateless_with_tree_map trace
            transforms tree tree_map_params tree_utils update_infinity_moment update_moment
            update_moment_per_elem_norm value_and_grad_from_state warmup_constant_schedule
            warmup_cosine_decay_schedule warmup_exponential_decay_schedule with_extra_args_support yogi zero_nans
        """,
    }
)
