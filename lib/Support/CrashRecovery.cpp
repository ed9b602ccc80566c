//===- CrashRecovery.cpp - Recovery from crashes --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/CrashRecovery.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <ucontext.h>
#include <unistd.h>

using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// One shielded call
//===----------------------------------------------------------------------===//

namespace {

/// A shielded call in progress. A crash writes to it when the stack may be
/// exhausted and the heap corrupt: it has space for the complete report.
struct Frame {
  Frame *outer;
  const char *textBegin, *textEnd;
  sigjmp_buf resume;
  bool isCrashing = false;
  size_t offset = SIZE_MAX;
  char what[256] = "";
  char doing[256] = "";
};

} // namespace

// Initialized before any signal, so that a handler on any thread may read it.
[[gnu::tls_model("initial-exec")]] static thread_local Frame *current = nullptr;

namespace {
/// A signal that this thread has passed to the previous handler.
struct PassedOn {
  const void *context;
  uintptr_t frame; ///< frame of the handler that passed it on
};
} // namespace
[[gnu::tls_model("initial-exec")]] static thread_local PassedOn passedOn = {};

template <size_t N> static void copyText(char (&to)[N], llvm::StringRef from) {
  from = from.take_until([](char c) { return c == '\n'; }).take_front(N - 1);
  std::copy(from.begin(), from.end(), to);
  to[from.size()] = '\0';
}

/// Records the innermost entry of what LLVM prints when it crashes.
static void noteWork(Frame &frame) {
  const auto *entry = static_cast<const llvm::PrettyStackTraceEntry *>(
      llvm::SavePrettyStackState());
  if (entry == nullptr)
    return;
  llvm::SmallString<sizeof(frame.doing)> text;
  llvm::raw_svector_ostream os(text);
  entry->print(os);
  copyText(frame.doing, text);
}

/// Records the largest pointer into the text in the frames from `stack` up to
/// the call. It is near the position of a reader that moves forward and keeps
/// its position there.
[[gnu::no_sanitize_address]] static void notePlace(Frame &frame,
                                                   uintptr_t stack) {
  const auto begin = reinterpret_cast<uintptr_t>(frame.textBegin);
  const auto end = reinterpret_cast<uintptr_t>(frame.textEnd);
  uintptr_t last = 0;
  const auto *word = reinterpret_cast<const uintptr_t *>(
      (stack + sizeof(uintptr_t) - 1) / sizeof(uintptr_t) * sizeof(uintptr_t));
  for (; word < reinterpret_cast<const uintptr_t *>(&frame); ++word)
    if (*word > begin && *word < end) // many frames have a pointer to the begin
      last = std::max(last, *word);
  if (last)
    frame.offset = last - begin;
}

/// Leaves the call. If recording the crash crashes again, the rest is not
/// recorded.
[[noreturn]] static void leave(Frame &frame, llvm::StringRef what,
                               uintptr_t stack) {
  if (!frame.isCrashing) {
    frame.isCrashing = true;
    copyText(frame.what, what);
    if (stack && frame.textBegin != frame.textEnd)
      notePlace(frame, stack);
    noteWork(frame);
  }
  siglongjmp(frame.resume, 1);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

namespace {
struct Signal {
  int number;
  const char *what;
  struct sigaction before; ///< previous handler, while ours is installed
};
} // namespace

/// Name of this process if it is a tool that every crash ends; else null.
static std::atomic<const char *> endingTool = nullptr;

static Signal signals[] = {
    {SIGSEGV, "segmentation fault", {}},
    {SIGBUS, "bus error", {}},
    {SIGFPE, "division by zero", {}},
    {SIGILL, "illegal instruction", {}},
    {SIGTRAP, "trap", {}},
    {SIGABRT, "abort", {}},
};

/// Returns the stack pointer at the signal, or 0 if it is unknown.
static uintptr_t stackOf(const void *context) {
  [[maybe_unused]] const auto &machine =
      static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine.sp);
#else
  return 0;
#endif
}

/// Ends the process for a crash of a thread that is not shielded.
[[noreturn]] static void endTool(llvm::StringRef what) {
  llvm::SmallString<512> text;
  llvm::raw_svector_ostream(text)
      << endingTool.load() << ": error: crashed: " << what << "\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  llvm::sys::RunInterruptHandlers();
  _exit(EXIT_FAILURE);
}

/// Does what would happen without our handler.
static void passOn(const Signal &signal, siginfo_t *info, void *context) {
  const struct sigaction &before = signal.before;
  const bool isDefault =
      !(before.sa_flags & SA_SIGINFO) &&
      (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
  // A handler that was installed after ours may call ours as its previous
  // handler, and also be the one that we found. Then this is the same signal,
  // further down the stack. (A handler need not return.)
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool isCircle = passedOn.context == context && frame < passedOn.frame;
  if (!isDefault && !isCircle) {
    passedOn = {context, frame};
    if (before.sa_flags & SA_SIGINFO)
      before.sa_sigaction(signal.number, info, context);
    else
      before.sa_handler(signal.number);
    passedOn = {};
    return;
  }
  if (isDefault && before.sa_handler == SIG_IGN && info->si_code <= 0)
    return;
  std::signal(signal.number, SIG_DFL);
  // A faulting instruction raises the signal again by itself.
  if (info->si_code <= 0)
    raise(signal.number);
}

static void handleSignal(int number, siginfo_t *info, void *context) {
  const Signal &signal =
      *std::find_if(std::begin(signals), std::end(signals),
                    [&](const Signal &s) { return s.number == number; });
  // The signal is from the kernel or from raise() in this process, not from
  // another process.
  const bool isOwn = info->si_code > 0 ||
                     (info->si_code == SI_TKILL && info->si_pid == getpid());
  if (!current && isOwn && endingTool)
    endTool(signal.what);
  if (!current || !isOwn)
    return passOn(signal, info, context);
  const char *what = signal.what;
  uintptr_t stack = stackOf(context);
  if (number == SIGSEGV && info->si_code > 0) {
    // The page beyond the end of a stack is unreadable, too.
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    constexpr uintptr_t kFar = 64 << 10; // upper bound of one frame
    if (address + kFar >= stack && address < stack + kFar) {
      what = "out of stack";
      stack = std::max(stack, (address / page + 1) * page);
    }
  }
  leave(*current, what, stack);
}

/// Does what LLVM does without a handler if no shielded call is active.
static void handleFatalError(void *, const char *reason, bool isBug) {
  if (current)
    leave(*current, reason,
          reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  if (endingTool)
    endTool(reason);
  std::string text = std::string("LLVM ERROR: ") + reason + "\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  llvm::sys::RunInterruptHandlers();
  if (isBug)
    std::abort();
  std::exit(1);
}

static void handleBadAllocation(void *, const char *, bool) {
  if (current)
    leave(*current, "out of memory",
          reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  static constexpr char kText[] = "LLVM ERROR: out of memory\n";
  (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
  std::abort();
}

namespace {

/// Our handlers, installed while any thread has a shielded call.
class Handlers {
public:
  Handlers();
  ~Handlers();

private:
  static std::mutex mutex; // guards the count and the handlers
  static int calls;
};
std::mutex Handlers::mutex;
int Handlers::calls = 0;

/// A stack for handlers on a thread that has none: the thread's own stack may
/// be exhausted.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();

private:
  std::unique_ptr<char[]> memory; ///< null if the thread had one
  stack_t before = {};
};

} // namespace

static bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handleSignal;
}

Handlers::Handlers() {
  std::lock_guard lock(mutex);
  if (calls++ > 0)
    return;
  static const bool isFirst = [] {
    llvm::install_fatal_error_handler(handleFatalError);
    llvm::install_bad_alloc_error_handler(handleBadAllocation);
    return true;
  }();
  (void)isFirst;
  struct sigaction ours = {};
  ours.sa_sigaction = handleSignal;
  // The signal is not blocked meanwhile: a crash in the handler also ends the
  // call.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  for (Signal &signal : signals) {
    struct sigaction found;
    sigaction(signal.number, nullptr, &found);
    // A handler installed after ours may have restored ours.
    if (isOurs(found))
      continue;
    signal.before = found;
    sigaction(signal.number, &ours, nullptr);
  }
}

Handlers::~Handlers() {
  std::lock_guard lock(mutex);
  if (--calls > 0)
    return;
  for (const Signal &signal : signals) {
    struct sigaction found;
    sigaction(signal.number, nullptr, &found);
    if (isOurs(found)) // otherwise the current handler may call ours, which
                       // passes the signal on
      sigaction(signal.number, &signal.before, nullptr);
  }
}

SignalStack::SignalStack() {
  const size_t least = sysconf(_SC_MINSIGSTKSZ) + (16 << 10);
  sigaltstack(nullptr, &before);
  if ((before.ss_flags & SS_ONSTACK) ||
      (!(before.ss_flags & SS_DISABLE) && before.ss_size >= least))
    return;
  const size_t bytes = least + (48 << 10);
  memory.reset(new char[bytes]);
  stack_t ours = {};
  ours.ss_sp = memory.get();
  ours.ss_size = bytes;
  sigaltstack(&ours, nullptr);
}

SignalStack::~SignalStack() {
  if (memory)
    sigaltstack(&before, nullptr);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

/// Calls `body`; records an exception.
static void callCatching(Frame &frame, llvm::function_ref<void()> body) {
  try {
    body();
    return;
  } catch (const std::bad_alloc &) {
    copyText(frame.what, "out of memory");
  } catch (const std::exception &exception) {
    copyText(frame.what, exception.what());
  } catch (...) {
    copyText(frame.what, "an exception");
  }
  frame.isCrashing = true;
}

/// Overwrites the positions in the text that earlier readers left on the stack:
/// the next callee need not write all that its frames span.
[[gnu::noinline]] static void wipeStack() {
  char unused[64 << 10];
  std::memset(unused, 0, sizeof(unused));
  asm volatile("" : : "r"(unused) : "memory");
}

/// This is a separate function because a crash loses the values in its
/// registers.
[[gnu::noinline]] static void call(Frame &frame,
                                   llvm::function_ref<void()> body) {
  // The signal mask is restored, too: a handler may run with some signals
  // blocked.
  if (sigsetjmp(frame.resume, /*savemask=*/1) == 0)
    callCatching(frame, body);
}

/// LLVM prints nodes of its graphs by their addresses, which differ from run to
/// run.
static std::string withoutAddresses(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t digits = 0;
    if (text.starts_with("0x"))
      digits = text.drop_front(2).take_while(llvm::isHexDigit).size();
    if (digits >= 8) {
      result += "(node)";
      text = text.drop_front(2 + digits);
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

std::optional<Crash>
mlir::pathways::runWithCrashRecovery(llvm::function_ref<void()> body,
                                     llvm::StringRef watched) {
  Handlers handlers;
  std::optional<SignalStack> stack;
  if (!current)
    stack.emplace();
  const void *work = llvm::SavePrettyStackState();
  Frame frame;
  frame.outer = current;
  frame.textBegin = watched.begin();
  frame.textEnd = watched.end();
  if (!watched.empty())
    wipeStack();
  current = &frame;
  call(frame, body);
  current = frame.outer;
  if (!frame.isCrashing)
    return std::nullopt;
  // The entries of LLVM's stack trace are in frames that no longer exist.
  llvm::RestorePrettyStackState(work);
  Crash crash{withoutAddresses(frame.what), frame.doing, std::nullopt};
  if (frame.offset != SIZE_MAX)
    crash.offset = frame.offset;
  return crash;
}

void mlir::pathways::exitCrashRecovery(llvm::StringRef what) {
  if (!current)
    llvm::report_fatal_error("left a call that is not shielded");
  leave(*current, what, /*stack=*/0);
}

int mlir::pathways::runTool(llvm::StringRef tool,
                            llvm::function_ref<int()> body,
                            llvm::StringRef fileName, llvm::StringRef watched) {
  // Installed below ours: this handler would print all of LLVM's current work.
  llvm::sys::PrintStackTraceOnErrorSignal(tool);
  static std::string name;
  name = tool.str();
  endingTool = name.c_str();
  int code = EXIT_FAILURE;
  std::optional<Crash> crash =
      runWithCrashRecovery([&] { code = body(); }, watched);
  if (!crash)
    return code;
  const bool isPlaced =
      crash->offset && llvm::StringRef(crash->doing).starts_with("MLIR Parser");
  if (isPlaced) {
    llvm::StringRef before = watched.take_front(*crash->offset);
    llvm::errs() << fileName << ":" << before.count('\n') + 1 << ":"
                 << before.size() - before.rfind('\n')
                 << ": error: the parser of MLIR crashed near here: ";
  } else {
    llvm::errs() << tool << ": error: crashed: ";
  }
  llvm::errs() << crash->str() << "\n";
  llvm::sys::RunInterruptHandlers();
  _exit(EXIT_FAILURE);
}

std::string Crash::str() const {
  return doing.empty() ? what : what + " (" + doing + ")";
}
