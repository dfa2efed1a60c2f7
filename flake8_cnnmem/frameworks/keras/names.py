"""The names that keras has, by namespace: those of 3.15.1, and those that earlier versions had.

Written by tests/oracle/measure_names.py. What is here and not followed is a cause, what is not here an AttributeError.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.existing_names import ExistingNames

NAMES = ExistingNames(
    {
        "keras.ops": """
            abs absolute adaptive_average_pool adaptive_max_pool add all allclose amax amin angle any append arange
            arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort array
            array_split associative_scan average average_pool bartlett batch_normalization binary_crossentropy
            bincount bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
            bitwise_xor blackman broadcast_to cast categorical_crossentropy cbrt cdist ceil celu cholesky
            cholesky_inverse clip concatenate cond conj conjugate conv conv_transpose convert_to_numpy
            convert_to_tensor copy corrcoef correlate cos cosh count_nonzero cross ctc_decode ctc_loss cumprod
            cumsum custom_gradient deg2rad depth_to_space depthwise_conv det diag diagflat diagonal diff digitize
            divide divide_no_nan dot dot_product_attention dsplit dstack dtype eig eigh einsum elu empty empty_like
            equal erf erfc erfinv exp exp2 expand_dims expm1 extract_sequences eye fabs fft fft2 flip fliplr flipud
            floor floor_divide fmax fmin fmod fold fori_loop full full_like gcd gelu geomspace get_item glu greater
            greater_equal hamming hanning hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh heaviside
            histogram hsplit hstack hypot i0 identity ifft2 imag image in_top_k inner inv irfft is_tensor isclose
            isfinite isin isinf isnan isneginf isposinf isreal istft jvp kaiser kron layer_normalization lcm ldexp
            leaky_relu left_shift less less_equal linalg linspace log log10 log1p log2 log_sigmoid log_softmax
            logaddexp logaddexp2 logdet logical_and logical_not logical_or logical_xor logspace logsumexp lstsq
            lu_factor map matmul matrix_rank max max_pool maximum mean median meshgrid min minimum mod moments
            moveaxis multi_hot multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
            nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative nextafter nn nonzero norm
            normalize not_equal numpy one_hot ones ones_like outer pad percentile pinv polar power prod psnr ptp qr
            quantile rad2deg ravel real rearrange reciprocal relu relu6 repeat reshape rfft right_shift
            rms_normalization roll rot90 round rsqrt saturate_cast scan scatter scatter_update searchsorted
            segment_max segment_min segment_prod segment_sum select selu separable_conv shape sigmoid sign signbit
            silu sin sinc sinh size slice slice_update slogdet soft_shrink softmax softplus softsign solve
            solve_triangular sort space_to_depth sparse_categorical_crossentropy sparse_plus sparse_sigmoid
            sparsemax split sqrt square squareplus squeeze stack std stft stop_gradient subtract sum svd swapaxes
            swish switch take take_along_axis tan tanh tanh_shrink tensordot threshold tile top_k trace transpose
            trapezoid tri tril triu true_divide trunc unfold unique unravel_index unstack vander var vdot vectorize
            vectorized_map view view_as_complex view_as_real vsplit vstack where while_loop zeros zeros_like
        """,
        "keras.layers": """
            AbstractRNNCell Activation ActivityRegularization AdaptiveAveragePooling1D AdaptiveAveragePooling2D
            AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D Add
            AdditiveAttention AlphaDropout AtrousConv1D AtrousConv2D AtrousConvolution1D AtrousConvolution2D
            Attention AugMix AutoContrast Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D
            AvgPool2D AvgPool3D BatchNormalization BatchNormalizationV1 BatchNormalizationV2 Bidirectional
            CategoryEncoding CenterCrop Concatenate ContrastLimitedAdaptiveHistogramEqualization Conv1D
            Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D ConvLSTM2DCell
            ConvLSTM3D ConvRNN2D ConvRecurrent2D Convolution1D Convolution1DTranspose Convolution2D
            Convolution2DTranspose Convolution3D Convolution3DTranspose Cropping1D Cropping2D Cropping3D CuDNNGRU
            CuDNNLSTM CutMix Deconv2D Deconv3D Deconvolution2D Deconvolution3D Dense DenseFeatures DepthwiseConv1D
            DepthwiseConv2D DepthwiseConvolution1D DepthwiseConvolution2D Discretization Dot Dropout ELU EinsumDense
            Embedding Equalization Flatten FlaxLayer GRU GRUCell GaussianDropout GaussianNoise
            GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
            GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
            GlobalMaxPooling3D GroupNormalization GroupQueryAttention GroupedQueryAttention HashedCrossing Hashing
            Highway Identity Input InputLayer InputSpec IntegerLookup JaxLayer K LSTM LSTMCell Lambda Layer
            LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D Masking MaxNumBoundingBoxes MaxPool1D
            MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum MaxoutDense MelSpectrogram Merge
            Minimum MixUp MultiHeadAttention Multiply Normalization PReLU ParametricReLU ParametricSoftplus Permute
            Pipeline RMSNormalization RNN RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter
            RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur
            RandomGrayscale RandomHeight RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation
            RandomSaturation RandomSharpness RandomShear RandomTranslation RandomWidth RandomZoom ReLU Recurrent
            RepeatVector Rescaling Reshape Resizing ReversibleEmbedding SReLU STFTSpectrogram SeparableConv1D
            SeparableConv2D SeparableConvolution1D SeparableConvolution2D SequenceFeatures SimpleRNN SimpleRNNCell
            Softmax Solarization SpatialDropout1D SpatialDropout2D SpatialDropout3D SpectralNormalization
            StackedRNNCells StringLookup Subtract SyncBatchNormalization TFSMLayer TextVectorization ThresholdedReLU
            TimeDistributed TimeDistributedDense TorchModuleWrapper UnitNormalization UpSampling1D UpSampling2D
            UpSampling3D Wrapper ZeroPadding1D ZeroPadding2D ZeroPadding3D activations add average concatenate
            constraints deserialize dot initializers maximum merge minimum multiply np regularizers serialize
            subtract
        """,
    }
)

OLDER = ExistingNames(
    {
        "keras.layers": """
            AbstractRNNCell AtrousConv1D AtrousConv2D AtrousConvolution1D AtrousConvolution2D BatchNormalizationV1
            BatchNormalizationV2 ConvLSTM2DCell ConvRNN2D ConvRecurrent2D CuDNNGRU CuDNNLSTM Deconv2D Deconv3D
            Deconvolution2D Deconvolution3D DenseFeatures DepthwiseConvolution1D DepthwiseConvolution2D
            GroupedQueryAttention Highway K LocallyConnected1D LocallyConnected2D MaxoutDense Merge ParametricReLU
            ParametricSoftplus RandomHeight RandomWidth Recurrent SReLU SequenceFeatures SyncBatchNormalization
            ThresholdedReLU TimeDistributedDense activations constraints initializers merge np regularizers
        """,
    }
)
