// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ServiceQuote} from "../../../packages/cli/contracts/ServiceQuote.sol";

/// @title A settlement contract that refuses quotes with other errors than the reference contract
contract OtherSettlement {
    enum Answer {
        ACCEPT,
        ACCEPT_WITH_RESULT,
        LISTED_ERROR,
        LISTED_TEXT,
        UNLISTED_ERROR,
        UNLISTED_TEXT,
        LISTED_TEXT_AND_MORE,
        PANIC,
        NO_DATA
    }

    Answer private answer;

    error NonceAlreadyUsed();
    error NotToday(uint256 day);

    function setAnswer(Answer next) external {
        answer = next;
    }

    function deposit(ServiceQuote calldata quote, bytes calldata) external view returns (uint256) {
        require(quote.inputAmount > 0, "nothing to deposit");
        if (answer == Answer.LISTED_ERROR) revert NonceAlreadyUsed();
        if (answer == Answer.UNLISTED_ERROR) revert NotToday(7);
        require(answer != Answer.LISTED_TEXT, "ECDSA: invalid signature");
        require(answer != Answer.UNLISTED_TEXT, "not today");
        require(answer != Answer.LISTED_TEXT_AND_MORE, "ECDSA: invalid signature!");
        if (answer == Answer.NO_DATA) revert();
        assert(answer != Answer.PANIC);
        if (answer == Answer.ACCEPT_WITH_RESULT) return 1;
        assembly ("memory-safe") {
            return(0, 0)
        }
    }
}
