"""What loaders, transforms and pipelines give: each case is a program that leaves tensors in `result`.

`measure_data.py` runs them in the frameworks; the tests run them in the interpreter.
"""

from __future__ import annotations

HEAD = """
import numpy as np
import torch
from PIL import Image
from torch.utils.data import (
    BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, Subset, TensorDataset,
    random_split,
)
from torchvision import transforms as T
from torchvision.transforms import v2
from torchvision.transforms import functional as TF
photo = Image.new("RGB", (500, 375))
scan = Image.new("L", (300, 400))
class Photos(Dataset):
    def __init__(self, transform=None, count=50):
        self.transform = transform or T.ToTensor()
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        return self.transform(photo), index % 10
"""

LOADERS = {
    "a data set of tensors": "result = next(iter(DataLoader(TensorDataset(torch.zeros(40, 3, 8, 8), torch.arange(40)), 16)))",
    "a batch size by name, shuffled": "result = next(iter(DataLoader(Photos(), batch_size=6, shuffle=True)))",
    "batches in a for loop": "for result in DataLoader(Photos(), 5): break",
    "a batch enumerated": "for at, (images, labels) in enumerate(DataLoader(Photos(), 7)):\n    result = images, labels\n    break",
    "samples that are dicts": """
class Named(Photos):
    def __getitem__(self, index):
        return {"image": torch.zeros(3, 4, 4), "mask": torch.zeros(4, 4, dtype=torch.long), "size": (4, 4), "n": 1.5}
batch = next(iter(DataLoader(Named(), 8)))
result = batch["image"], batch["mask"], batch["size"], batch["n"]
""",
    "samples that are arrays": """
class Arrays(Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, index):
        return np.zeros((6, 5), dtype=np.float32), np.int64(1)
result = next(iter(DataLoader(Arrays(), 4)))[0]
""",
    "without batching": "result = next(iter(DataLoader(Photos(), batch_size=None)))[0]",
    "a batch sampler": "result = next(iter(DataLoader(Photos(), batch_sampler=BatchSampler(RandomSampler(Photos()), 9, False))))",
    "a part of a data set": "result = next(iter(DataLoader(Subset(Photos(), range(20)), 10)))",
    "a random split": "a, b = random_split(Photos(), [40, 10])\nresult = next(iter(DataLoader(a, 8)))",
    "a random split by fractions": "a, b = random_split(Photos(), [0.8, 0.2])\nresult = torch.zeros(len(a), len(b))",
    "joined data sets": "result = next(iter(DataLoader(ConcatDataset([Photos(), Photos()]), 3)))",
    "added data sets": "result = torch.zeros(len(Photos() + Photos()))",
    "an iterable data set": """
class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.zeros(2, 3), 1
result = next(iter(DataLoader(Endless(), 5)))
""",
    "a collate function": """
def collate(samples):
    images, labels = zip(*samples)
    return torch.stack(images), torch.tensor(labels)
result = next(iter(DataLoader(Photos(), 4, collate_fn=collate)))
""",
    "a collate function that pads": """
def collate(samples):
    return torch.nn.utils.rnn.pad_sequence([image.flatten(1).t() for image, _ in samples], batch_first=True)
result = next(iter(DataLoader(Photos(T.Compose([T.Resize((4, 5)), T.ToTensor()])), 3, collate_fn=collate)))
""",
    "batches in an epoch": "result = torch.zeros(len(DataLoader(Photos(), 8)), len(DataLoader(Photos(), 8, drop_last=True)))",
    "two loaders side by side": "for (result, _), _ in zip(DataLoader(Photos(), 4), DataLoader(Photos(), 4)): break",
}  # fmt: skip

TRANSFORMS = {
    "ToTensor": "T.ToTensor()(photo)",
    "ToTensor of one band": "T.ToTensor()(scan)",
    "ToTensor of an array": "T.ToTensor()(np.zeros((20, 30, 3), dtype=np.uint8))",
    "ToTensor of a flat array": "T.ToTensor()(np.zeros((20, 30), dtype=np.float32))",
    "PILToTensor": "T.PILToTensor()(photo)",
    "Resize to a pair": "T.Compose([T.Resize((128, 96)), T.ToTensor()])(photo)",
    "Resize of the shorter side": "T.Compose([T.Resize(256), T.ToTensor()])(photo)",
    "Resize of the shorter side of an upright image": "T.Compose([T.Resize(256), T.ToTensor()])(scan)",
    "Resize with a largest size": "T.Compose([T.Resize(256, max_size=300), T.ToTensor()])(photo)",
    "Resize of a tensor": "T.Resize(64)(torch.zeros(3, 100, 200))",
    "CenterCrop": "T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor()])(photo)",
    "CenterCrop of a small image": "T.Compose([T.CenterCrop(600), T.ToTensor()])(photo)",
    "RandomResizedCrop": "T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor()])(photo)",
    "RandomCrop with padding": "T.Compose([T.Resize((32, 32)), T.RandomCrop(32, padding=4), T.ToTensor()])(photo)",
    "Pad by one number": "T.Compose([T.Pad(3), T.ToTensor()])(photo)",
    "Pad by two numbers": "T.Compose([T.Pad((3, 5)), T.ToTensor()])(photo)",
    "Pad by four numbers": "T.Compose([T.Pad((1, 2, 3, 4)), T.ToTensor()])(photo)",
    "Grayscale": "T.Compose([T.Grayscale(), T.ToTensor()])(photo)",
    "Grayscale with three channels": "T.Compose([T.Grayscale(num_output_channels=3), T.ToTensor()])(scan)",
    "FiveCrop stacked": "T.Compose([T.FiveCrop(100), T.Lambda(lambda crops: torch.stack([T.ToTensor()(c) for c in crops]))])(photo)",
    "TenCrop": "T.TenCrop(10)(torch.zeros(3, 20, 20))[9]",
    "ToPILImage and back": "T.Compose([T.ToPILImage(), T.Resize((7, 9)), T.ToTensor()])(torch.zeros(1, 20, 30))",
    "RandomRotation": "T.Compose([T.RandomRotation(20), T.ToTensor()])(photo)",
    "RandomApply of what keeps the size": "T.Compose([T.RandomApply([T.ColorJitter(0.1)], p=0.5), T.ToTensor()])(photo)",
    "Normalize": "T.Compose([T.ToTensor(), T.Normalize((0.5,) * 3, (0.5,) * 3)])(photo)",
    "augmentations": "T.Compose([T.RandAugment(), T.TrivialAugmentWide(), T.ToTensor(), T.RandomErasing()])(photo)",
    "ConvertImageDtype": "T.ConvertImageDtype(torch.float64)(torch.zeros(3, 4, 4, dtype=torch.uint8))",
    "v2 ToImage and ToDtype": "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])(photo)",
    "v2 RGB": "v2.Compose([v2.RGB(), v2.ToImage()])(scan)",
    "v2 of an image and a mask": "v2.Compose([v2.Resize((20, 30)), v2.ToImage()])(photo, scan)",
    "functional resize and crop": "TF.to_tensor(TF.crop(TF.resize(photo, [100, 120]), 3, 4, 50, 60))",
    "functional pad": "TF.to_tensor(TF.pad(photo, [0, 0, 3, 5]))",
    "a crop of Pillow's": "T.ToTensor()(photo.crop((10, 20, 110, 70)))",
    "a size of Pillow's": "torch.zeros(photo.size)",
    "a conversion of Pillow's": "T.ToTensor()(photo.convert('L').resize((8, 6)))",
    "an array of an image": "torch.from_numpy(np.array(photo))",
    "an array of a grey image": "torch.from_numpy(np.asarray(scan).copy())",
    "an image of an array": "T.ToTensor()(Image.fromarray(np.zeros((5, 6, 3), dtype=np.uint8)))",
    "a quarter turn": "T.ToTensor()(photo.transpose(Image.ROTATE_90))",
}  # fmt: skip
TRANSFORMS = {name: f"result = {code}" for name, code in TRANSFORMS.items()}

DISTRIBUTIONS = {
    "a sample of a normal distribution": "Normal(torch.zeros(4, 5), torch.ones(4, 5)).rsample()",
    "several samples": "Normal(torch.zeros(4, 5), torch.ones(4, 5)).sample((3,))",
    "of a standard normal distribution": "Normal(0, 1).log_prob(torch.zeros(6, 2))",
    "a logarithm of a density": "Normal(torch.zeros(4, 5), torch.ones(4, 5)).log_prob(torch.zeros(4, 5))",
    "an entropy": "Normal(torch.zeros(4, 5), torch.ones(4, 5)).entropy()",
    "a divergence": "kl_divergence(Normal(torch.zeros(4, 5), torch.ones(4, 5)), Normal(0.0, 1.0)).sum(-1)",
}
DISTRIBUTIONS = {
    name: f"from torch.distributions import Normal, kl_divergence\nresult = {code}"
    for name, code in DISTRIBUTIONS.items()
}

EINOPS = {
    "patches of an image": "rearrange(x, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=4, p2=4)",
    "heads split off": "rearrange(torch.zeros(2, 10, 96), 'b n (h d) -> b h n d', h=4)",
    "queries, keys and values": "rearrange(torch.zeros(2, 10, 288), 'b n (qkv h d) -> qkv b h n d', qkv=3, h=4)",
    "the other axes joined": "rearrange(x, 'b ... -> b (...)')",
    "the other axes as they are": "rearrange(x, '... h w -> ... w h')",
    "repeated over a new axis": "repeat(torch.zeros(1, 1, 96), '1 1 d -> b 1 d', b=5)",
    "repeated inside axes": "repeat(x, 'b c h w -> b c (h 2) (w k)', k=3)",
    "a mean over axes": "reduce(x, 'b c h w -> b c', 'mean')",
    "pooling by numbers": "reduce(x, 'b c (h 2) (w 2) -> b c h w', 'max')",
    "a list is stacked": "rearrange([x, x, x], 'n b c h w -> b n c h w')",
    "axes of one kept": "reduce(x, 'b c h w -> b c 1 1', 'sum')",
    "a layer": "Rearrange('b c h w -> b (c h w)')(x)",
    "a layer that reduces": "Reduce('b c h w -> b c', 'mean')(x)",
}
EINOPS = {
    name: "from einops import rearrange, reduce, repeat\nfrom einops.layers.torch import Rearrange, Reduce\n"
    f"x = torch.zeros(2, 3, 8, 16)\nresult = {code}"
    for name, code in EINOPS.items()
}

KERAS_HEAD = """
import numpy as np
import tensorflow as tf
x, y = np.zeros((40, 28, 28, 1), dtype="float32"), np.zeros((40,), dtype="int32")
"""

PIPELINES = {
    "slices in batches": "result = next(iter(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10).batch(16)))",
    "batches in a for loop": "for result in tf.data.Dataset.from_tensor_slices((x, y)).batch(8).prefetch(1): break",
    "a function on samples": """
def prepare(image, label):
    return tf.image.resize(image, [32, 20]), tf.one_hot(label, 10)
result = next(iter(tf.data.Dataset.from_tensor_slices((x, y)).map(prepare).batch(4)))
""",
    "a function on batches": "result = next(iter(tf.data.Dataset.from_tensor_slices((x, y)).batch(5).map(lambda a, b: (a / 255, b))))",
    "samples in dicts": "result = next(iter(tf.data.Dataset.from_tensor_slices({'a': x, 'b': y}).batch(3)))['a']",
    "unbatched": "result = next(iter(tf.data.Dataset.from_tensor_slices(x).batch(4).unbatch()))",
    "windows": """
windows = tf.data.Dataset.range(100).window(21, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(21))
result = next(iter(windows.map(lambda w: (w[:-1], w[-1:])).batch(25).prefetch(1)))
""",
    "windows in larger batches": """
windows = tf.data.Dataset.from_tensor_slices(x).window(6, shift=2).flat_map(lambda w: w.batch(30))
result = next(iter(windows))
""",
    "windows of pairs": """
pairs = tf.data.Dataset.from_tensor_slices((x, y)).window(5, stride=2, drop_remainder=True)
result = next(iter(pairs.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(5), b.batch(5)))).batch(3)))
""",
    "zipped": """
a, b = tf.data.Dataset.from_tensor_slices(x), tf.data.Dataset.range(40)
result = next(iter(tf.data.Dataset.zip((a, b)).batch(6)))
""",
    "a generator with a signature": """
def samples():
    for at in range(10):
        yield np.zeros((4, 5), dtype="float32"), at
signature = (tf.TensorSpec(shape=(4, 5), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.int32))
result = next(iter(tf.data.Dataset.from_generator(samples, output_signature=signature).batch(2)))
""",
    "flowing arrays": """
generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
result = next(generator.flow(x, y, batch_size=10))
""",
    "labels as categories": "result = tf.constant(tf.keras.utils.to_categorical(y, 10))",
    **{
        f"a batch of {name}": "data = tf.data.Dataset.from_tensor_slices((x, y))\nresult = next(iter(" + chain + "))"
        for name, chain in {
            "more than there are": "data.shuffle(100).batch(64).prefetch(2)",
            "more than are taken": "data.take(24).batch(32)",
            "more than are left": "data.skip(24).batch(32)",
            "more, repeated before": "data.repeat().batch(64)",
            "more, repeated behind": "data.batch(64).repeat()",
            "more, repeated once": "data.repeat(2).batch(64)",
            "more than a shard": "data.shard(4, 1).batch(64)",
            "more than a remainder": "data.batch(16, drop_remainder=True).unbatch().batch(64)",
            "batches": "data.batch(20).batch(8)",
            "more than both": "data.take(9).concatenate(data.take(8)).batch(64)",
            "more than a pair": "tf.data.Dataset.zip((data, tf.data.Dataset.range(10))).batch(64)",
            "more, taken apart": "data.batch(12).unbatch().batch(64)",
            "more, cut anew": "data.batch(12).rebatch(64)",
            "more with padding": "data.padded_batch(64, padded_shapes=([28, 28, 1], []))",
            "more, of those of a range": "tf.data.Dataset.range(3, 30, 2).batch(64)",
            "more, counted": "data.take(int(0.8 * len(data))).batch(64)",
            "more, counted by tensorflow": "data.take(data.cardinality().numpy() // 3).batch(64)",
            "more, counted in batches": "data.batch(16).take(len(data.batch(16)) - 1).unbatch().batch(64)",
            "more, of one tensor": "tf.data.Dataset.from_tensors(x).batch(8)",
            "more, of a list": "tf.data.Dataset.from_tensor_slices(list(range(7))).batch(8)",
            "more, of windows of a size": (
                "tf.data.Dataset.range(60).window(21, shift=2, drop_remainder=True)"
                ".flat_map(lambda w: w.batch(21)).batch(64)"
            ),
            "more, of the rows of windows": (
                "tf.data.Dataset.range(30).window(4, stride=3, drop_remainder=True).flat_map(lambda w: w).batch(64)"
            ),
            "more, of several of each": "data.flat_map(lambda a, b: tf.data.Dataset.from_tensors(a).repeat(2)).batch(128)",
            "more, of windows": "tf.keras.utils.timeseries_dataset_from_array(x[:, 0, 0], y, 8)",
            "more, of windows apart": "tf.keras.utils.timeseries_dataset_from_array(x[:, 0, 0], None, 8, 3, 2)",
            "more, of a part of windows": "tf.keras.utils.timeseries_dataset_from_array(x, y, 4, start_index=3, end_index=20)",
        }.items()
    },
    "the batches of a list": "result = np.concatenate(list(tf.data.Dataset.from_tensor_slices(x).batch(16)), axis=0)",
    "the last batch of a loop": "for result in tf.data.Dataset.from_tensor_slices((x, y)).batch(16): pass",
    "a list of samples": """
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).unbatch().map(lambda image, label: label)
result = np.array(list(data.as_numpy_iterator()))
""",
    "flowing fewer arrays": """
generator = tf.keras.preprocessing.image.ImageDataGenerator()
result = next(generator.flow(x, y, batch_size=64))
""",
    "flowing a part of them": """
generator = tf.keras.preprocessing.image.ImageDataGenerator(validation_split=0.3)
result = next(generator.flow(x, y, batch_size=32, subset="training"))
""",
}  # fmt: skip
