// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title A token whose transfers end in any way
/// @notice Anyone chooses how the next transfers end.
contract HostileToken {
    bytes private revertData;
    uint256 private revertSize;
    bool private loops;
    bool private returnsFalse;

    /// @notice Transfers revert with these bytes.
    function revertWith(bytes calldata data) external {
        revertData = data;
    }

    /// @notice Transfers revert with `size` zeros.
    function revertWithSize(uint256 size) external {
        revertSize = size;
    }

    /// @notice Transfers never end.
    function loop() external {
        loops = true;
    }

    /// @notice Transfers return false, as those of old tokens do.
    function returnFalse() external {
        returnsFalse = true;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transfer(address, uint256) external view returns (bool) {
        return end();
    }

    function transferFrom(address, address, uint256) external view returns (bool) {
        return end();
    }

    function end() private view returns (bool) {
        while (loops) {}
        if (returnsFalse) return false;
        uint256 size = revertSize;
        if (size > 0) {
            assembly ("memory-safe") {
                revert(mload(0x40), size)
            }
        }
        bytes memory data = revertData;
        assembly ("memory-safe") {
            revert(add(data, 32), mload(data))
        }
    }
}
