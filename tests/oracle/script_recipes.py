"""What fixtures/scripts say, as a reader would find it: for measure_scripts.py, which confirms it with the frameworks.

`models`: name, the text of the line where it is built, and how to make it: `run` executes the top-level statements
from one text to another (both included) on top of the imports, definitions and plain constants; `make` is then
evaluated. Texts in `at` are found in the file to give its line; "file|text" names another file than the script.
"""

from __future__ import annotations

from typing import Any

SGD9: dict[str, Any] = {"name": "sgd", "options": {"momentum": 0.9}}


def adam(**options: Any) -> dict[str, Any]:
    return {"name": "adam", "options": options}


SCRIPTS: dict[str, dict[str, Any]] = {
    "mnist_main.py": {
        "models": [{"name": "Net", "built": "model = Net()", "make": "Net()"}],
        "input_shape": [1, 28, 28], "batch_size": 64, "optimizer": {"name": "adadelta"}, "loss": "nll_loss",
        "at": {"batch_size": "'--batch-size'", "input_shape": "dataset1 =", "optimizer": "optimizer = optim"},
    },
    "cifar_resnet.py": {
        "models": [{"name": "ResNet18", "built": "net = ResNet18()", "make": "ResNet18()"}],
        "input_shape": [3, 32, 32], "batch_size": 128, "optimizer": SGD9, "loss": "cross_entropy",
        "at": {"batch_size": "trainloader = ", "input_shape": "RandomCrop(32", "optimizer": "optimizer = optim"},
    },
    "finetune_ants_bees.py": {
        "models": [{
            "name": "resnet18", "built": "model_ft = models.resnet18(", "run": ("model_ft = models", "model_ft.fc ="),
            "make": "model_ft",
        }],
        "input_shape": [3, 224, 224], "batch_size": 4, "optimizer": SGD9, "loss": "cross_entropy",
        "at": {"batch_size": "dataloaders = ", "input_shape": "RandomResizedCrop", "optimizer": "optimizer_ft ="},
        "needs": ["torchvision"],
    },
    "frozen_mobilenet.py": {
        "models": [{"name": "mobilenet_v2", "built": "net = build_model(", "make": "build_model(NUM_CLASSES, 256)"}],
        "input_shape": [3, 224, 224], "batch_size": 48, "optimizer": adam(), "loss": "cross_entropy",
        "at": {"batch_size": '"--batch-size"', "input_shape": "CenterCrop(224)", "optimizer": "optimizer = optim"},
        "needs": ["torchvision"],
    },
    "dcgan_faces.py": {
        "models": [
            {"name": "Generator", "built": "netG = Generator(", "make": "Generator(1)", "input_shape": [100, 1, 1]},
            {"name": "Discriminator", "built": "netD = Discriminator(", "make": "Discriminator(1)"},
        ],
        "input_shape": [3, 64, 64], "batch_size": 128, "optimizer": adam(),
        "at": {"batch_size": "batch_size = 128", "input_shape": "image_size = 64", "optimizer": "optimizerD ="},
    },
    "unet_carvana.py": {
        "models": [{"name": "UNET", "built": "model = UNET(", "make": "UNET(in_channels=3, out_channels=1)"}],
        "input_shape": [3, 160, 240], "batch_size": 16, "optimizer": adam(), "dtype": "mixed_float16",
        "at": {
            "batch_size": "BATCH_SIZE = 16", "input_shape": "A.Resize(", "optimizer": "optimizer = optim",
            "dtype": "autocast()",
        },
    },
    "amp_efficientnet.py": {
        "models": [{
            "name": "efficientnet_b0", "built": "model = torchvision.models",
            "make": "torchvision.models.efficientnet_b0(weights=None, num_classes=10)",
        }],
        "input_shape": [3, 192, 192], "batch_size": 96, "optimizer": {"name": "adamw"}, "dtype": "mixed_bfloat16",
        "at": {
            "batch_size": '"--bs"', "input_shape": '"--img-size"', "optimizer": "optimizer = AdamW(",
            "dtype": "torch.autocast(device_type",
        },
        "needs": ["torchvision"],
    },
    "lightning_cifar.py": {
        "models": [{"name": "LitResnet", "built": "model = LitResnet(", "make": "LitResnet(lr=0.05)"}],
        "input_shape": [3, 32, 32], "batch_size": 256, "optimizer": SGD9, "dtype": "mixed_float16",
        "at": {
            "batch_size": "BATCH_SIZE = int", "input_shape": "T.RandomCrop", "optimizer": "optimizer = torch.optim",
            "dtype": 'precision="16-mixed"',
        },
        "needs": ["torchvision"],
    },
    "lightning_autoencoder.py": {
        "models": [{"name": "ConvAutoEncoder", "built": "trainer.fit(", "make": "ConvAutoEncoder()"}],
        "input_shape": [1, 28, 28], "batch_size": 192, "optimizer": adam(), "dtype": "mixed_bfloat16",
        "at": {
            "batch_size": "train_loader =", "input_shape": "dataset = ", "optimizer": "optim.Adam(",
            "dtype": 'precision="bf16-mixed"',
        },
    },
    "vit_cifar100.py": {
        "models": [{
            "name": "ViT", "built": "model = ViT(",
            "make": "ViT(image_size=32, patch_size=4, num_classes=100, dim=256, depth=6, heads=8, mlp_dim=512, "
            "dropout=0.1, emb_dropout=0.1)",
        }],
        "input_shape": [3, 32, 32], "batch_size": 512, "optimizer": {"name": "adamw"}, "loss": "cross_entropy",
        "at": {"batch_size": "'--batch_size'", "input_shape": "T.RandomCrop", "optimizer": "optimizer = torch.optim.AdamW"},
    },
    "yaml_project/train.py": {
        "models": [{
            "name": "FastSeg", "built": "net = build_model(",
            "make": "build_model({'name': 'FastSeg', 'width': 32, 'blocks': [1, 2, 2]}, 19)",
        }],
        "input_shape": [3, 256, 512], "batch_size": 12, "optimizer": SGD9, "loss": "cross_entropy",
        "at": {
            "batch_size": "yaml_project/config.yaml|batch_size", "input_shape": "yaml_project/config.yaml|image_size",
            "optimizer": "yaml_project/train.py|optimizer = getattr",
        },
    },
    "config_module/main.py": {
        "models": [{"name": "SmallVGG", "built": "net = SmallVGG(", "make": "SmallVGG(10, 3, mult=1.5)"}],
        "input_shape": [3, 96, 96], "batch_size": 128, "loss": "cross_entropy",
        "optimizer": {"name": "rmsprop", "options": {"momentum": 0.9}},
        "at": {
            "batch_size": "config_module/config.py|BATCH_SIZE", "input_shape": "config_module/config.py|IMAGE_SIZE",
            "optimizer": "config_module/main.py|self.optimizer =",
        },
    },
    "notebook_fashion.py": {
        "models": [{"name": "FashionCNN", "built": "model = FashionCNN()", "make": "FashionCNN()"}],
        "input_shape": [1, 28, 28], "batch_size": 100, "optimizer": adam(), "loss": "cross_entropy",
        "at": {"batch_size": "train_loader = ", "input_shape": "train = images.view", "optimizer": "optimizer = "},
    },
    "audio_m5.py": {
        "models": [{"name": "M5", "built": "model = M5(", "make": "M5(n_input=1, n_output=35)"}],
        "input_shape": [1, 8000], "batch_size": 256, "optimizer": adam(), "loss": "audio",
        "at": {"batch_size": "train_loader = ", "input_shape": "summary(model", "optimizer": "optimizer = "},
    },
    "distill_student.py": {
        "models": [
            {"name": "Student", "built": "student = Student()", "make": "Student()"},
            {
                "name": "resnet34", "built": "teacher = resnet34()", "trained": False,
                "make": "frozen_teacher(resnet34(), nn)",
            },
        ],
        "input_shape": [3, 32, 32], "batch_size": 64, "optimizer": adam(),
        "at": {"batch_size": '"--batch"', "input_shape": "loader = DataLoader", "optimizer": "optimizer = torch"},
        "needs": ["torchvision"],
    },
    "accumulate_wide.py": {
        "models": [{
            "name": "wide_resnet50_2", "built": "self.model = torchvision.models",
            "make": "torchvision.models.wide_resnet50_2(num_classes=101)",
        }],
        "input_shape": [3, 320, 320], "batch_size": 8, "optimizer": {"name": "nadam"}, "loss": "cross_entropy",
        "at": {"batch_size": "micro_batch: int", "input_shape": "image_size: int", "optimizer": "self.optimizer ="},
        "needs": ["torchvision"],
    },
    "checkpointed_densenet.py": {
        "models": [{"name": "CheckpointedDenseNet", "built": "model = Check", "make": "CheckpointedDenseNet()"}],
        "input_shape": [3, 64, 64], "batch_size": 64, "loss": "cross_entropy", "saved": False,
        "optimizer": {"name": "sgd", "options": {"momentum": 0.9, "nesterov": True}},
        "at": {"batch_size": "BATCH = 64", "input_shape": "T.RandomCrop(64", "optimizer": "optimizer = SGD"},
    },
    "timm_pets.py": {
        "models": [{
            "name": "resnet26t", "built": "model = timm.create_model(",
            "make": "timm.create_model('resnet26t', num_classes=37)",
        }],
        "input_shape": [3, 256, 256], "batch_size": 40, "loss": "cross_entropy",
        "optimizer": {"name": "adamw", "options": {"amsgrad": True}},
        "at": {"batch_size": '"--batch-size"', "input_shape": '"--size"', "optimizer": "optimizer = torch"},
        "needs": ["timm"],
    },
    "multilabel_heads.py": {
        "models": [{"name": "TwoHeads", "built": "model = TwoHeads(", "make": "TwoHeads(40)"}],
        "input_shape": [3, 224, 192], "batch_size": 24, "optimizer": adam(),
        "at": {"batch_size": "batch=24", "input_shape": "size=(224, 192)", "optimizer": "optimizer = torch"},
        "needs": ["torchvision"],
    },
    "bfloat16_convnext.py": {
        "models": [{"name": "convnext_tiny", "built": "net = convnext_tiny(", "make": "convnext_tiny(num_classes=50)"}],
        "input_shape": [3, 176, 176], "batch_size": 36, "optimizer": {"name": "sgd"}, "dtype": "bfloat16",
        "loss": "cross_entropy",
        "at": {
            "batch_size": "loader = DataLoader", "input_shape": "images = torch.randint", "optimizer": "opt = torch.optim",
            "dtype": "net = convnext_tiny(",
        },
        "needs": ["torchvision"],
    },
    "imagenet_ddp.py": {
        "models": [{"name": "resnet34", "built": "model = models.__dict__[args.arch]()", "make": "models.resnet34()"}],
        "input_shape": [3, 224, 224], "batch_size": 256, "optimizer": SGD9, "loss": "cross_entropy",
        "at": {"batch_size": "'--batch-size'", "input_shape": "RandomResizedCrop(", "optimizer": "optimizer = torch"},
        "needs": ["torchvision"],
    },
    "keras_mnist_convnet.py": {
        "framework": "keras",
        "models": [{
            "name": "Sequential", "built": "model = Sequential()", "run": ("batch_size = ", "model.add(Dense(num_classes"),
            "make": "model",
        }],
        "input_shape": [28, 28, 1], "batch_size": 128, "optimizer": {"name": "adadelta"},
        "at": {"batch_size": "batch_size = 128", "input_shape": "input_shape=input_shape", "optimizer": "optimizer="},
    },
    "keras_cifar10_generator.py": {
        "framework": "keras",
        "models": [{
            "name": "Sequential", "built": "model = Sequential()",
            "run": ("batch_size = ", "model.add(Activation('softmax'))"), "make": "model",
        }],
        "input_shape": [32, 32, 3], "batch_size": 32, "optimizer": {"name": "rmsprop"},
        "at": {"batch_size": "batch_size = 32", "input_shape": "input_shape=x_train", "optimizer": "opt = keras"},
    },
    "keras_dogs_cats.py": {
        "framework": "keras",
        "models": [{
            "name": "Sequential", "built": "model = models.Sequential()",
            "run": ("conv_base = ", "conv_base.trainable"), "make": "model",
        }],
        "input_shape": [150, 150, 3], "batch_size": 20, "optimizer": {"name": "rmsprop"},
        "at": {"batch_size": "batch_size=20", "input_shape": "input_shape=(150", "optimizer": "optimizer="},
        "needs": ["keras"],
    },
    "keras_transfer_tfdata.py": {
        "framework": "keras",
        "models": [{
            "name": "Model", "built": "model = tf.keras.Model(", "run": ("data_augmentation =", "model = tf.keras.Model("),
            "skip": ("image_batch, label_batch", "feature_batch", "print("), "make": "model",
        }],
        "input_shape": [160, 160, 3], "batch_size": 32, "optimizer": adam(),
        "at": {"batch_size": "BATCH_SIZE = 32", "input_shape": "inputs = tf.keras", "optimizer": "model.compile"},
        "needs": ["keras"],
    },
    "keras_tfdata_mixed.py": {
        "framework": "keras",
        "models": [{"name": "resnet20", "built": "model = build_model(", "make": "build_model(20, 10, 32)"}],
        "input_shape": [32, 32, 3], "batch_size": 64, "dtype": "mixed_float16",
        "optimizer": {"name": "sgd", "options": {"momentum": 0.9, "nesterov": True}},
        "at": {
            "batch_size": '"--batch"', "input_shape": "inputs = keras.Input", "optimizer": "optimizer=keras",
            "dtype": "set_global_policy",
        },
    },
    "keras_unet_cells.py": {
        "framework": "keras",
        "models": [{"name": "Model", "built": "    model = get_unet()", "make": "get_unet()"}],
        "input_shape": [128, 128, 3], "batch_size": 16, "optimizer": adam(),
        "at": {"batch_size": "batch_size=16", "input_shape": "inputs = Input", "optimizer": "optimizer=Adam"},
    },
    "keras_gan_mnist.py": {
        "framework": "keras",
        "models": [
            {
                # Frozen before its own first step: in Keras 3 it trains nothing.
                "name": "discriminator", "built": "self.discriminator = ", "make": "DCGAN().discriminator",
            },
            {
                "name": "combined", "built": "self.combined = Model(", "make": "DCGAN().combined", "input_shape": [100],
            },
        ],
        "input_shape": [100], "batch_size": 32, "optimizer": adam(),
        "at": {"batch_size": "batch_size=32", "input_shape": "noise = Input(shape", "optimizer": "optimizer=Adam"},
    },
    "keras_custom_loop.py": {
        "framework": "keras",
        "models": [{"name": "MyModel", "built": "model = MyModel()", "make": "called(MyModel(), (28, 28, 1))"}],
        "input_shape": [28, 28, 1], "batch_size": 50, "optimizer": adam(),
        "at": {"batch_size": "train_ds = ", "input_shape": "x_train = x_train[...", "optimizer": "optimizer = "},
    },
    "keras_autoencoder_denoise.py": {
        "framework": "keras",
        "models": [{
            "name": "Model", "built": "autoencoder = Model(", "run": ("(train_data, _), ", "autoencoder = Model("),
            "make": "autoencoder",
        }],
        "input_shape": [28, 28, 1], "batch_size": 144, "optimizer": adam(),
        "at": {"batch_size": "batch_size=144", "input_shape": "input = layers.Input", "optimizer": "autoencoder.compile"},
    },
    "keras_finetune_blocks.py": {
        "framework": "keras",
        "models": [{
            "name": "Model", "built": "model = make_model()", "run": ("FLAGS = ", "FLAGS = "), "make": "make_model()",
        }],
        "input_shape": [256, 256, 3], "batch_size": 14, "optimizer": SGD9,
        "at": {"batch_size": "    batch=14", "input_shape": "    image=256", "optimizer": "model.compile"},
        "needs": ["keras"],
    },
}  # fmt: skip
