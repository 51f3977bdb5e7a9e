// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Settlement} from "../../../packages/cli/contracts/Settlement.sol";

/// @title A settlement contract that emits any order events
/// @notice For tests with many events. Its events belong to no orders.
contract ChattySettlement is Settlement {
    constructor(address bondToken) Settlement(bondToken, 0) {}

    /// @notice Emits `count` events of the three kinds. Their values depend only on `seed` and their position.
    function emitEvents(uint256 count, uint256 seed) external {
        for (uint256 i = 0; i < count; i++) {
            bytes32 orderId = keccak256(abi.encode(seed, i));
            uint256 value = uint256(orderId);
            address user = account(value >> 8, 1000);
            address solver = account(value >> 24, 16);
            uint256 kind = value % 3;
            if (kind == 0) {
                emit Deposited(
                    orderId,
                    user,
                    solver,
                    account(value >> 32, 8),
                    value >> 128,
                    account(value >> 40, 8),
                    value >> 64,
                    uint32(value >> 48)
                );
            } else if (kind == 1) {
                emit Settled(orderId, user, solver);
            } else {
                emit Refunded(orderId, user, value >> 128, value >> 160);
            }
        }
    }

    /// @dev One of `population` accounts.
    function account(uint256 value, uint256 population) private pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode(value % population)))));
    }
}
