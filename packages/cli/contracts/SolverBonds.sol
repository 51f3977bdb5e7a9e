// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

/// @title The bonds that secure the quotes of solvers
/// @notice A solver's bond has three parts: reserved for open orders, unstaking (its return was requested), and free.
/// New orders reserve only from the free part. The unstaking part still secures address deposits: this is the
/// reason for the delay.
abstract contract SolverBonds is ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @param totalBond the bond held, reserved and unstaking parts included
    /// @param unstakeAmount the unstaking part, or 0
    /// @param unstakeTimestamp the time from which it can be paid out, in Unix seconds, or 0
    struct Solver {
        uint256 totalBond;
        uint256 reservedBond;
        uint256 unstakeAmount;
        uint40 unstakeTimestamp;
        bool registered;
    }

    /// @dev The smallest bond for a registration, in the bond token's smallest unit (a token of 6 decimals).
    uint256 private constant MIN_BOND = 1000e6;
    /// @dev The time between an unstake request and its payment.
    uint40 private constant UNSTAKE_DELAY = 7 days;

    /// @notice The ERC-20 of bonds.
    IERC20 public immutable BOND_TOKEN;

    mapping(address solver => Solver) public solvers;

    event SolverRegistered(address indexed solver, uint256 amount);
    event BondAdded(address indexed solver, uint256 amount);
    event UnstakeRequested(address indexed solver, uint256 amount, uint40 unlockTime);
    event UnstakeCancelled(address indexed solver);
    event UnstakeExecuted(address indexed solver, uint256 amount);

    error ZeroAmount();
    error SolverNotRegistered(address solver);
    error SolverAlreadyRegistered(address solver);
    error BondBelowMinimum(uint256 amount);
    error InsufficientBond(uint256 available, uint256 required);
    error UnstakeAlreadyRequested();
    error NoUnstakeRequested();
    error UnstakeLocked(uint40 unlockTime);
    error AmountNotReceived(address token, uint256 received, uint256 required);

    constructor(address bondToken) {
        BOND_TOKEN = IERC20(bondToken);
    }

    /// @notice The solver's bond that no order has reserved. Includes the unstaking part.
    function availableBond(address solver) public view returns (uint256) {
        return solvers[solver].totalBond - solvers[solver].reservedBond;
    }

    /// @notice Makes the caller a solver with a first bond of `amount`, at least `MIN_BOND`, pulled from the caller.
    function registerSolver(uint256 amount) external nonReentrant {
        if (solvers[msg.sender].registered) revert SolverAlreadyRegistered(msg.sender);
        if (amount < MIN_BOND) revert BondBelowMinimum(amount);
        solvers[msg.sender].registered = true;
        solvers[msg.sender].totalBond += amount;
        emit SolverRegistered(msg.sender, amount);
        _pullExactly(BOND_TOKEN, msg.sender, amount);
    }

    /// @notice Adds `amount`, pulled from the caller, to the caller's bond.
    function addBond(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _requireRegistered(msg.sender);
        solvers[msg.sender].totalBond += amount;
        emit BondAdded(msg.sender, amount);
        _pullExactly(BOND_TOKEN, msg.sender, amount);
    }

    /// @notice Requests `amount` of the bond back. It is due after `UNSTAKE_DELAY` and secures no new order until then.
    /// There is one request at a time, for at most the part that is unreserved now.
    function requestUnstake(uint256 amount) external {
        if (amount == 0) revert ZeroAmount();
        _requireRegistered(msg.sender);
        Solver storage solver = solvers[msg.sender];
        if (solver.unstakeAmount != 0) revert UnstakeAlreadyRequested();
        uint256 available = availableBond(msg.sender);
        if (amount > available) revert InsufficientBond(available, amount);
        solver.unstakeAmount = amount;
        solver.unstakeTimestamp = uint40(block.timestamp) + UNSTAKE_DELAY;
        emit UnstakeRequested(msg.sender, amount, solver.unstakeTimestamp);
    }

    /// @notice Cancels the request: the whole bond secures new orders again.
    function cancelUnstake() external {
        _clearUnstake(solvers[msg.sender]);
        emit UnstakeCancelled(msg.sender);
    }

    /// @notice Pays out the unstaking part, or what a slash for a missed address deposit has left of it.
    /// @dev A solver whose whole bond is paid out is no longer one, and needs `registerSolver` with `MIN_BOND` again.
    function executeUnstake() external nonReentrant {
        Solver storage solver = solvers[msg.sender];
        if (block.timestamp < solver.unstakeTimestamp) revert UnstakeLocked(solver.unstakeTimestamp);
        uint256 amount = Math.min(_clearUnstake(solver), availableBond(msg.sender));
        solver.totalBond -= amount;
        if (solver.totalBond == 0) solver.registered = false;
        emit UnstakeExecuted(msg.sender, amount);
        BOND_TOKEN.safeTransfer(msg.sender, amount);
    }

    /// @dev Reserves `amount` of the solver's free bond for an order, until `_releaseBond` or `_slashReservedBond`.
    function _reserveBond(address solver, uint256 amount) internal {
        _requireFreeBond(solver, amount);
        solvers[solver].reservedBond += amount;
    }

    /// @dev The free bond is neither reserved nor unstaking, and at least 0: a slash can leave less than is unstaking.
    function _requireFreeBond(address solver, uint256 amount) internal view {
        uint256 free = Math.saturatingSub(availableBond(solver), solvers[solver].unstakeAmount);
        if (amount > free) revert InsufficientBond(free, amount);
    }

    function _releaseBond(address solver, uint256 amount) internal {
        solvers[solver].reservedBond -= amount;
    }

    /// @dev Takes a reserved `amount` from the solver permanently. The caller pays it out.
    function _slashReservedBond(address solver, uint256 amount) internal {
        solvers[solver].reservedBond -= amount;
        solvers[solver].totalBond -= amount;
    }

    /// @dev Takes up to `amount` of the unreserved bond, unstaking or not. The caller pays out the returned amount.
    function _slashAvailableBond(address solver, uint256 amount) internal returns (uint256 slashed) {
        slashed = Math.min(amount, availableBond(solver));
        solvers[solver].totalBond -= slashed;
    }

    function _requireRegistered(address solver) internal view {
        if (!solvers[solver].registered) revert SolverNotRegistered(solver);
    }

    /// @dev Reverts for tokens that transfer less than `amount`: another order's deposit would pay the difference.
    function _pullExactly(IERC20 token, address from, uint256 amount) internal {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(from, address(this), amount);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != amount) revert AmountNotReceived(address(token), received, amount);
    }

    function _clearUnstake(Solver storage solver) private returns (uint256 amount) {
        amount = solver.unstakeAmount;
        if (amount == 0) revert NoUnstakeRequested();
        solver.unstakeAmount = 0;
        solver.unstakeTimestamp = 0;
    }
}
