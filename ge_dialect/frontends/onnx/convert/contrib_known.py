"""What operators of ONNX Runtime's domain may say: what else a node says was added to them later.

ONNX Runtime adds operands and attributes to an operator without a new version of it; one that no
converter here has heard of must not be passed over.

Source: ONNX Runtime, "Contrib operators" (docs/ContribOperators.md), the page of each operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.frontends.onnx.convert.contrib import DOMAIN
from ge_dialect.frontends.onnx.convert.node import Node, OnHost, checks

_ANY = 1 << 30

KNOWN: Mapping[str, tuple[int, str]] = MappingProxyType({
    "Attention": (
        7,
        "do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes "
        "rotary_embedding_dim scale unidirectional",
    ),
    "BiasAdd": (3, ""),
    "BiasDropout": (5, "seed"),
    "BiasGelu": (2, ""),
    "BiasSoftmax": (2, "axis is_inner_broadcast"),
    "BiasSplitGelu": (2, ""),
    "CDist": (2, "metric"),
    "CausalConvWithState": (4, "activation channels_last dilation ndim state_window"),
    "DecoderMaskedMultiHeadAttention": (
        11,
        "mask_filter_value num_heads output_qk past_present_share_buffer scale",
    ),
    "DequantizeLinear": (3, "axis"),
    "DynamicQuantizeLSTM": (
        12,
        "activation_alpha activation_beta activations clip direction hidden_size "
        "input_forget",
    ),
    "DynamicQuantizeMatMul": (5, ""),
    "EmbedLayerNormalization": (9, "epsilon mask_index_type"),
    "ExpandDims": (2, ""),
    "FastGelu": (2, ""),
    "FusedConv": (
        4,
        "activation activation_params auto_pad dilations group kernel_shape pads strides",
    ),
    "FusedGemm": (
        3,
        "activation activation_alpha activation_beta activation_gamma alpha beta transA "
        "transB",
    ),
    "FusedMatMul": (2, "alpha transA transB transBatchA transBatchB"),
    "FusedMatMulActivation": (
        2,
        "activation activation_alpha activation_axis activation_beta activation_gamma alpha "
        "transA transB transBatchA transBatchB",
    ),
    "GatedAdd": (4, ""),
    "GatedRMSNorm": (3, "activation epsilon"),
    "GatherBlockQuantized": (4, "bits block_size gather_axis quantize_axis"),
    "GatherND": (2, ""),
    "Gelu": (1, ""),
    "GemmFastGelu": (3, ""),
    "GemmaRotaryEmbedding": (5, ""),
    "GridSample": (2, "align_corners mode padding_mode"),
    "GroupNorm": (3, "activation channels_last epsilon groups"),
    "GroupQueryAttention": (
        17,
        "causal do_rotary k_norm_epsilon k_quant_type kv_cache_bit_width kv_num_heads "
        "local_window_size num_heads q_norm_epsilon qk_norm_epsilon qk_output "
        "rotary_interleaved scale sliding_window_cache smooth_softmax softcap v_quant_type",
    ),
    "LinearAttention": (6, "chunk_size kv_num_heads q_num_heads scale state_window update_rule"),
    "LinearAttentionGate": (4, ""),
    "MRotaryEmbedding": (
        4,
        "interleaved is_packed_batching mrope_layout mrope_section num_heads "
        "rotary_embedding_dim scale",
    ),
    "MatMulIntegerToFloat": (7, ""),
    "MatMulNBits": (6, "K N accuracy_level bits block_size weight_prepacked"),
    "MoE": (
        8,
        "activation_alpha activation_beta activation_type k normalize_routing_weights "
        "swiglu_fusion swiglu_limit swiglu_limit_after_activation use_sparse_mixer",
    ),
    "MultiHeadAttention": (10, "mask_filter_value num_heads scale unidirectional"),
    "NhwcConv": (3, "auto_pad dilations group kernel_shape pads strides"),
    "NhwcFusedConv": (
        4,
        "activation activation_params auto_pad dilations group kernel_shape pads strides",
    ),
    "NhwcMaxPool": (1, "auto_pad ceil_mode dilations kernel_shape pads strides"),
    "Pad": (3, "mode"),
    "QAttention": (
        9,
        "do_rotary mask_filter_value num_heads past_present_share_buffer scale "
        "unidirectional",
    ),
    "QGemm": (9, "alpha transA transB"),
    "QLinearAdd": (8, ""),
    "QLinearAveragePool": (
        5,
        "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides",
    ),
    "QLinearConcat": (_ANY, "axis"),
    "QLinearConv": (9, "auto_pad channels_last dilations group kernel_shape pads strides"),
    "QLinearGlobalAveragePool": (5, "channels_last"),
    "QLinearLeakyRelu": (5, "alpha"),
    "QLinearMul": (8, ""),
    "QLinearReduceMean": (5, "axes keepdims"),
    "QLinearSigmoid": (5, ""),
    "QLinearSoftmax": (5, "axis opset"),
    "QLinearWhere": (9, ""),
    "QMoE": (
        21,
        "accuracy_level activation_alpha activation_beta activation_type block_size "
        "expert_weight_bits fc1_expert_weight_bits fc2_expert_weight_bits "
        "fc3_expert_weight_bits k normalize_routing_weights quant_type swiglu_fusion "
        "swiglu_limit swiglu_limit_after_activation use_sparse_mixer weights_prepacked",
    ),
    "QuantizeLinear": (3, "axis"),
    "QuickGelu": (1, "alpha"),
    "Range": (3, ""),
    "RotaryEmbedding": (4, "interleaved is_packed_batching num_heads rotary_embedding_dim scale"),
    "ScaledSiLU": (2, "alpha"),
    "SkipGroupNorm": (5, "activation channels_last epsilon groups"),
    "SkipLayerNormalization": (5, "epsilon"),
    "SkipSimplifiedLayerNormalization": (4, "epsilon"),
    "SwiGLU": (2, "activation_alpha activation_beta limit round_activation"),
    "TorchEmbedding": (4, ""),
    "TransposeMatMul": (2, "alpha transA transB"),
    "Trilu": (2, "upper"),
})  # fmt: skip
"""How many operands each has at most, and its attributes."""


@checks(DOMAIN)
def check_known(node: Node) -> None:
    """Checks that a node has no operand and no attribute that its converter does not know.

    Raises:
        OnHost: It has.
    """
    count, names = KNOWN[node.op_type]
    for slot, value in enumerate(node.operands[count:], count):
        if value is not None:
            raise OnHost(f"input {slot} is not known")
    known = names.split()
    for name in node.attributes:
        if name not in known:
            raise OnHost(f"attribute '{name}' is not known")
