// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

/// @title Bonds with the rules of deployed contracts
/// @notice What differs from `SolverBonds`: the unstaking part secures new orders too, a slash takes reserved bond as well, and
/// at least `MIN_BOND` of an unstaked bond stays.
abstract contract DeployedBonds is ReentrancyGuard {
    using SafeERC20 for IERC20;

    struct Solver {
        uint256 totalBond;
        uint256 reservedBond;
        uint256 unstakeAmount;
        uint40 unstakeTimestamp;
        bool registered;
    }

    uint256 public constant BOND_RESERVATION_BPS = 500;
    uint256 public constant MIN_BOND = 1000e6;
    uint40 private constant UNSTAKE_DELAY = 7 days;

    IERC20 public immutable BOND_TOKEN;

    mapping(address solver => Solver) public solvers;

    event SolverRegistered(address indexed solver, uint256 amount);
    event BondAdded(address indexed solver, uint256 amount);
    event UnstakeRequested(address indexed solver, uint256 amount, uint40 unlockTime);
    event UnstakeCancelled(address indexed solver);
    event UnstakeExecuted(address indexed solver, uint256 amount);

    error BelowMinimumBond();
    error InsufficientBond();
    error NoPendingUnstake();
    error PendingUnstakeExists();
    error SolverAlreadyRegistered();
    error SolverNotRegistered();
    error UnstakeNotReady();

    constructor(address bondToken) {
        BOND_TOKEN = IERC20(bondToken);
    }

    function availableBond(address solver) public view returns (uint256) {
        return solvers[solver].totalBond - solvers[solver].reservedBond;
    }

    function registerSolver(uint256 amount) external nonReentrant {
        if (solvers[msg.sender].registered) revert SolverAlreadyRegistered();
        if (amount < MIN_BOND) revert BelowMinimumBond();
        solvers[msg.sender] = Solver(amount, 0, 0, 0, true);
        emit SolverRegistered(msg.sender, amount);
        BOND_TOKEN.safeTransferFrom(msg.sender, address(this), amount);
    }

    function addBond(uint256 amount) external nonReentrant {
        _requireRegistered(msg.sender);
        solvers[msg.sender].totalBond += amount;
        emit BondAdded(msg.sender, amount);
        BOND_TOKEN.safeTransferFrom(msg.sender, address(this), amount);
    }

    function requestUnstake(uint256 amount) external {
        _requireRegistered(msg.sender);
        Solver storage solver = solvers[msg.sender];
        if (solver.unstakeAmount != 0) revert PendingUnstakeExists();
        if (amount > availableBond(msg.sender)) revert InsufficientBond();
        if (solver.totalBond - amount < MIN_BOND) revert BelowMinimumBond();
        solver.unstakeAmount = amount;
        solver.unstakeTimestamp = uint40(block.timestamp) + UNSTAKE_DELAY;
        emit UnstakeRequested(msg.sender, amount, solver.unstakeTimestamp);
    }

    function cancelUnstake() external {
        _clearUnstake(solvers[msg.sender]);
        emit UnstakeCancelled(msg.sender);
    }

    function executeUnstake() external nonReentrant {
        Solver storage solver = solvers[msg.sender];
        if (solver.unstakeAmount != 0 && block.timestamp < solver.unstakeTimestamp) revert UnstakeNotReady();
        uint256 amount = _clearUnstake(solver);
        solver.totalBond -= amount;
        emit UnstakeExecuted(msg.sender, amount);
        BOND_TOKEN.safeTransfer(msg.sender, amount);
    }

    function _requireRegistered(address solver) internal view {
        if (!solvers[solver].registered) revert SolverNotRegistered();
    }

    function _requireBond(address solver, uint256 outputAmount) internal view {
        if (availableBond(solver) < _bondFor(outputAmount)) revert InsufficientBond();
    }

    function _reserveBond(address solver, uint256 outputAmount) internal {
        _requireBond(solver, outputAmount);
        solvers[solver].reservedBond += _bondFor(outputAmount);
    }

    /// @dev Reverts with Panic 17 when a slash for another order has released the reservation.
    function _releaseBond(address solver, uint256 outputAmount) internal {
        solvers[solver].reservedBond -= _bondFor(outputAmount);
    }

    /// @dev Releases as much as it slashes, although nothing was reserved for a deposit address: the reservations of other open
    /// orders go.
    function _slashBond(address solver, uint256 outputAmount) internal returns (uint256 slashed) {
        uint256 bond = _bondFor(outputAmount);
        Solver storage slashedSolver = solvers[solver];
        slashed = Math.min(bond, slashedSolver.totalBond);
        slashedSolver.totalBond -= slashed;
        slashedSolver.reservedBond = Math.saturatingSub(slashedSolver.reservedBond, bond);
    }

    function _bondFor(uint256 outputAmount) private pure returns (uint256) {
        return Math.mulDiv(outputAmount, BOND_RESERVATION_BPS, 10_000);
    }

    function _clearUnstake(Solver storage solver) private returns (uint256 amount) {
        amount = solver.unstakeAmount;
        if (amount == 0) revert NoPendingUnstake();
        solver.unstakeAmount = 0;
        solver.unstakeTimestamp = 0;
    }
}
