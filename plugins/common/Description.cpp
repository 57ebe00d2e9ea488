//===- Description.cpp - What describes our plugins -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Description.h"

using namespace dtlto;

sdk::Description dtlto::describePlugin(std::string Summary,
                                       sdk::ArgumentTable Arguments,
                                       std::vector<sdk::Variable> Variables) {
  return {std::move(Summary), "dtlto", DTLTO_BUG_REPORT_URL,
          std::move(Arguments), std::move(Variables)};
}
