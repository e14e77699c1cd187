import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    raise NotImplementedError("softmax is yours to write")


class Softmax(torch.nn.Module):
    def forward(self, x, dim=-1):
        e = (x - x.amax(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)


softmax = Softmax()
