// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title A token that answers `symbol()` and `decimals()` with any bytes
/// @notice It reverts where it has no bytes, and in all other calls.
contract RawToken {
    bytes private symbolAnswer;
    bytes private decimalsAnswer;

    constructor(bytes memory symbolAnswer_, bytes memory decimalsAnswer_) {
        symbolAnswer = symbolAnswer_;
        decimalsAnswer = decimalsAnswer_;
    }

    fallback(bytes calldata input) external returns (bytes memory answer) {
        if (bytes4(input) == bytes4(keccak256("symbol()"))) answer = symbolAnswer;
        if (bytes4(input) == bytes4(keccak256("decimals()"))) answer = decimalsAnswer;
        require(answer.length > 0);
    }
}

/// @title A token whose calls use up all gas
contract BurningToken {
    fallback() external {
        while (true) {}
    }
}

/// @title A token with a symbol of a mebibyte
contract LongToken {
    uint8 public constant decimals = 6;

    function symbol() external pure {
        assembly {
            mstore(0, 32)
            mstore(32, 1048576)
            return(0, 1048640)
        }
    }
}

/// @title A token that sends its reader to a URL (ERC-3668)
contract LookupToken {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    string private url;

    constructor(string memory url_) {
        url = url_;
    }

    fallback() external {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", bytes4(0), "");
    }
}

/// @title A settlement contract of an old deployment, with no view but the one that every deployment has
contract OldSettlement {
    bytes32 public constant DEPOSIT_PROXY_CREATION_CODE_HASH = keccak256("proxy");
}
