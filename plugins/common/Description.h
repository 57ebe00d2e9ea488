//===- Description.h - What describes our plugins ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_DESCRIPTION_H
#define DTLTO_PLUGINS_DESCRIPTION_H

#include "dtlto/sdk/Arguments.hpp"

namespace dtlto {

/// Describes a plugin of dtlto itself.
inline sdk::Description
describePlugin(std::string Summary, sdk::ArgumentTable Arguments,
               std::vector<sdk::Variable> Variables = {}) {
  return {std::move(Summary), "dtlto", DTLTO_BUG_REPORT_URL,
          std::move(Arguments), std::move(Variables)};
}

} // namespace dtlto

#endif // DTLTO_PLUGINS_DESCRIPTION_H
