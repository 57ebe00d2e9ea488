//===- PluginCheck.h - A layer that checks a plugin -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-check-plugin. The layer is a plugin for the linker, and a
// host for the plugin below it. It passes on each call, checks it by the rules
// that dtlto-plugin-check has (Rules/Rules.h), and lends the plugin copies of
// structs and strings (Rules/Loan.h). A wrong access to these is recorded, and
// then made possible, so that the link goes on as without the layer. Only a
// system call that gets such an address fails, with EFAULT.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINCHECK_H
#define DTLTO_HOST_PLUGINCHECK_H

#include "Support/Messages.h"
#include "dtlto/PluginAPI.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// Returns the layer above \p Plugin. There is one for each process, the last.
/// With \p AreErrors, a finding fails the link.
const dtlto_plugin *checkedPlugin(const dtlto_plugin &Plugin, bool AreErrors);

// Without a layer, the following functions do nothing.

/// Shows findings by \p Msg, which is never destroyed, from now on at once.
void showFindings(Messages &Msg);

/// Fails if findings are errors and there are any.
llvm::Error failForFindings();

/// Shows how many findings there are, at the end of a link that used the
/// plugin. Afterwards, no more are shown.
void countFindings();

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINCHECK_H
