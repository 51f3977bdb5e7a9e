// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title The account at a deposit address
/// @notice A user sends the input token to this contract's address before the contract exists. Only the
/// settlement contract, which deploys it, may empty it, and only to itself.
/// @dev The constructor takes no arguments, so that the hash of the creation code, and with it every deposit address,
/// depends only on the settlement contract and the order id.
contract DepositProxy {
    using SafeERC20 for IERC20;

    address private immutable SETTLEMENT = msg.sender;

    error NotSettlement(address caller);

    /// @notice Sends the whole balance of `token` to the settlement contract.
    function sweep(IERC20 token) external {
        if (msg.sender != SETTLEMENT) revert NotSettlement(msg.sender);
        token.safeTransfer(SETTLEMENT, token.balanceOf(address(this)));
    }
}
