// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice A solver's offer to a user, signed as EIP-712 typed data.
/// @param orderType 0: the user fixed the input amount, 1: the user fixed the output amount. Both amounts are binding.
/// @param inputAmount what the user gives, in the smallest unit of `inputToken`
/// @param outputAmount what the user gets, in the smallest unit of `outputToken`
/// @param depositDeadline last second at which the user may deposit, in Unix seconds
/// @param fillDeadline last second at which the solver may deliver, in Unix seconds
/// @param nonce chosen by the solver; at most one of its quotes with a nonce becomes an order
struct ServiceQuote {
    address solver;
    address user;
    address inputToken;
    uint256 inputAmount;
    address outputToken;
    uint256 outputAmount;
    uint8 orderType;
    uint256 outputChainId;
    uint32 depositDeadline;
    uint32 fillDeadline;
    uint256 nonce;
}

/// @title The hashes of a quote
library ServiceQuoteHash {
    bytes32 private constant TYPE_HASH = keccak256(
        "ServiceQuote(address solver,address user,address inputToken,uint256 inputAmount,address outputToken,"
        "uint256 outputAmount,uint8 orderType,uint256 outputChainId,uint32 depositDeadline,uint32 fillDeadline,"
        "uint256 nonce)"
    );

    /// @notice EIP-712's `hashStruct(quote)`.
    /// @dev All members are static, so that encoding the struct equals encoding its members one by one.
    function structHash(ServiceQuote calldata quote) internal pure returns (bytes32) {
        return keccak256(abi.encode(TYPE_HASH, quote));
    }

    /// @notice The id of the order that this quote, signed with these very bytes, becomes.
    function orderId(ServiceQuote calldata quote, bytes calldata signature) internal pure returns (bytes32) {
        return keccak256(abi.encode(structHash(quote), keccak256(signature)));
    }
}
