// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

/// @title The bonds that solvers stand behind their quotes with
/// @notice A solver's bond falls into three parts: reserved for open orders, asked back and waiting (unstaking), and
/// free. New orders reserve from the free part only. The unstaking part still answers for a missed address deposit:
/// that is what the delay is for.
abstract contract SolverBonds is ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @param totalBond the bond held, reserved and unstaking parts included
    /// @param unstakeAmount what was asked back, 0 when nothing is
    /// @param unstakeTimestamp from when on it can be had, in Unix seconds, 0 when nothing is asked back
    struct Solver {
        uint256 totalBond;
        uint256 reservedBond;
        uint256 unstakeAmount;
        uint40 unstakeTimestamp;
        bool registered;
    }

    /// @dev The least bond to register with, in the bond token's smallest unit (a token of 6 decimals).
    uint256 private constant MIN_BOND = 1000e6;
    /// @dev The time between asking a bond back and getting it.
    uint40 private constant UNSTAKE_DELAY = 7 days;

    /// @notice The ERC-20 that bonds are held in.
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

    /// @notice The solver's bond that no order has reserved. Includes what is being unstaked.
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

    /// @notice Asks `amount` of the bond back. It can be had `UNSTAKE_DELAY` later and backs no new order until then.
    /// One request at a time, of no more than what is unreserved now.
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

    /// @notice Takes the request back: the whole bond backs new orders again.
    function cancelUnstake() external {
        _clearUnstake(solvers[msg.sender]);
        emit UnstakeCancelled(msg.sender);
    }

    /// @notice Pays out what was asked back, or what is left of it when a missed address deposit took some meanwhile.
    /// @dev A solver whose bond is all paid out is one no more, and comes back by `registerSolver` with `MIN_BOND`.
    function executeUnstake() external nonReentrant {
        Solver storage solver = solvers[msg.sender];
        if (block.timestamp < solver.unstakeTimestamp) revert UnstakeLocked(solver.unstakeTimestamp);
        uint256 amount = Math.min(_clearUnstake(solver), availableBond(msg.sender));
        solver.totalBond -= amount;
        if (solver.totalBond == 0) solver.registered = false;
        emit UnstakeExecuted(msg.sender, amount);
        BOND_TOKEN.safeTransfer(msg.sender, amount);
    }

    /// @dev Ties `amount` of the solver's free bond to an order, until `_releaseBond` or `_slashReservedBond`.
    function _reserveBond(address solver, uint256 amount) internal {
        _requireFreeBond(solver, amount);
        solvers[solver].reservedBond += amount;
    }

    /// @dev The free bond is what is neither reserved nor unstaking, at least 0: a slash can leave less than is unstaking.
    function _requireFreeBond(address solver, uint256 amount) internal view {
        uint256 free = Math.saturatingSub(availableBond(solver), solvers[solver].unstakeAmount);
        if (amount > free) revert InsufficientBond(free, amount);
    }

    function _releaseBond(address solver, uint256 amount) internal {
        solvers[solver].reservedBond -= amount;
    }

    /// @dev Takes a reserved `amount` from the solver for good. The caller pays it out.
    function _slashReservedBond(address solver, uint256 amount) internal {
        solvers[solver].reservedBond -= amount;
        solvers[solver].totalBond -= amount;
    }

    /// @dev Takes up to `amount` of what is not reserved, unstaking or not. The caller pays out what is returned.
    function _slashAvailableBond(address solver, uint256 amount) internal returns (uint256 slashed) {
        slashed = Math.min(amount, availableBond(solver));
        solvers[solver].totalBond -= slashed;
    }

    function _requireRegistered(address solver) internal view {
        if (!solvers[solver].registered) revert SolverNotRegistered(solver);
    }

    /// @dev Refuses tokens that move less than they say: one order's shortfall would be paid from another's deposit.
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
