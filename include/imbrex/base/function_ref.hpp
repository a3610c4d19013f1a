// A reference to something callable, for callbacks that are called and not kept.
#pragma once

#include <type_traits>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

template <class Signature>
class FunctionRef;

/// Refers to a callable, or to nothing; owns neither it nor its memory, and is valid while the
/// callable is.
template <class R, class... As>
class FunctionRef<R(As...)> {
 public:
  FunctionRef() = default;

  /// Refers to `f`, which must be called while it lives.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_invocable_r_v<R, F&, As...>)
  FunctionRef(F&& f) {  // NOLINT: implicit, so that a lambda can be handed over
    using Callable = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Callable>) {
      referred_.function = reinterpret_cast<void (*)()>(&f);
      call_ = [](Referred r, As... args) -> R {
        return reinterpret_cast<Callable*>(r.function)(args...);
      };
    } else {
      referred_.object = const_cast<void*>(static_cast<const volatile void*>(&f));
      call_ = [](Referred r, As... args) -> R {
        return (*static_cast<Callable*>(r.object))(args...);
      };
    }
  }

  /// Whether it refers to something; only then may it be called.
  explicit operator bool() const { return call_ != nullptr; }
  R operator()(As... args) const { return call_(referred_, args...); }

 private:
  union Referred {
    void* object;
    void (*function)();
  };

  Referred referred_{nullptr};
  R (*call_)(Referred, As...) = nullptr;
};

}  // namespace imbrex::inline IMBREX_ABI
