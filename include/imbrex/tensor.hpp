// All of tensor/: named shapes, tensors, views and weights. Needs nothing but the standard library.
#pragma once

#include "imbrex/tensor/agree.hpp"
#include "imbrex/tensor/axis.hpp"
#include "imbrex/tensor/axis_list.hpp"
#include "imbrex/tensor/buffer.hpp"
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/print.hpp"
#include "imbrex/tensor/shape.hpp"
#include "imbrex/tensor/shape_ref.hpp"
#include "imbrex/tensor/tensor.hpp"
#include "imbrex/tensor/tensor_like.hpp"
#include "imbrex/tensor/view.hpp"
#include "imbrex/tensor/weight.hpp"
