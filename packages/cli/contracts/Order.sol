// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

enum OrderState {
    NONE,
    DEPOSITED,
    SETTLED,
    REFUNDED
}

/// @notice A taken quote, as the settlement contract stores it.
struct Order {
    address user;
    address solver;
    address inputToken;
    uint256 inputAmount;
    address outputToken;
    uint256 outputAmount;
    uint256 outputChainId;
    uint32 fillDeadline;
    OrderState state;
}
