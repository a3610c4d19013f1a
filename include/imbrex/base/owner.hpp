// A counted handle that keeps something alive without saying what: the map of a file, a buffer.
// (A std::shared_ptr would do; <memory> alone costs more compile time than all of tensor/.)
#pragma once

#include <atomic>
#include <utility>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Shares the ownership of an object of any type; empty by default.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner& other) : held_(other.held_) {
    if (held_ != nullptr) held_->count.fetch_add(1, std::memory_order_relaxed);
  }
  Owner(Owner&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Owner& operator=(Owner other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Owner() {
    if (held_ != nullptr && held_->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      held_->destroy(held_);
    }
  }

  /// Takes `object` over.
  template <class T>
  static Owner of(T object) {
    Owner owner;
    owner.held_ = new Held<T>(std::move(object));
    return owner;
  }

  /// The object, which must be a T; it stays where it is.
  template <class T>
  const T& get() const {
    return static_cast<const Held<T>*>(held_)->object;
  }

  /// Whether it owns something.
  explicit operator bool() const { return held_ != nullptr; }

 private:
  struct Counted {
    explicit Counted(void (*d)(Counted*)) : destroy(d) {}
    std::atomic<int> count{1};
    void (*destroy)(Counted*);
  };
  template <class T>
  struct Held : Counted {
    explicit Held(T&& o)
        : Counted([](Counted* c) { delete static_cast<Held*>(c); }), object(std::move(o)) {}
    T object;
  };

  Counted* held_ = nullptr;
};

}  // namespace imbrex::inline IMBREX_ABI
