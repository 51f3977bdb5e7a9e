// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {DepositProxy} from "./DepositProxy.sol";
import {Order, OrderState} from "./Order.sol";
import {ServiceQuote, ServiceQuoteHash} from "./ServiceQuote.sol";
import {SolverBonds} from "./SolverBonds.sol";

/// @title Settlement of solver-signed quotes
/// @notice The reference implementation, for local networks and tests. A user takes a quote in one of two ways:
/// - by `deposit`: the order is known at once and backed by a reserved part of the solver's bond; the solver `fill`s;
/// - by sending the input token to the quote's deposit address: nothing is reserved, anyone may `settle`.
/// In both ways the solver's free bond must cover 5% of the output when the contract takes the quote.
/// If the output is not paid by `fillDeadline`, the user gets the input back and 5% of the output from the bond.
/// @dev Limits of the protocol, which no implementation of this surface can lift:
/// - The contract cannot see when tokens reached a deposit address. A user who sends them after `depositDeadline` can
///   still settle up to `fillDeadline`. A user who sends them after that, even borrowed for one transaction, can
///   have the solver slashed. `cancelNonce` protects a solver from both, for quotes that were not taken. By the same
///   call it can avoid a slash, but it can never keep the user's tokens.
/// - Only `inputToken` comes back from a deposit address. Other tokens and ether sent there are lost.
/// - The bond is counted at face value: 5% of the number `outputAmount`, in the bond token's smallest unit.
contract Settlement is SolverBonds, EIP712 {
    using SafeERC20 for IERC20;
    using ServiceQuoteHash for ServiceQuote;

    /// @notice The part of `outputAmount` that the bond must cover, in hundredths of a percent, rounded down.
    uint256 public constant BOND_RESERVATION_BPS = 500;

    /// @notice The smallest `outputAmount` of an order, in the smallest unit of the output token.
    uint256 public immutable MIN_ORDER;

    /// @notice The init code hash of deposit addresses: CREATE2 of this contract with the order id as the salt.
    bytes32 public immutable DEPOSIT_PROXY_CREATION_CODE_HASH = keccak256(type(DepositProxy).creationCode);

    uint8 private constant EXACT_OUTPUT = 1;

    mapping(bytes32 orderId => Order) public orders;
    mapping(address solver => mapping(uint256 nonce => bool)) public isNonceUsed;

    event Deposited(
        bytes32 indexed orderId,
        address indexed user,
        address indexed solver,
        address inputToken,
        uint256 inputAmount,
        address outputToken,
        uint256 outputAmount,
        uint32 fillDeadline
    );
    event Settled(bytes32 indexed orderId, address indexed user, address indexed solver);
    event Refunded(bytes32 indexed orderId, address indexed user, uint256 inputAmount, uint256 bondSlashed);
    event NonceCancelled(address indexed solver, uint256 nonce);

    error OrderBelowMinimum(uint256 outputAmount, uint256 minimum);
    error UnknownOrderType(uint8 orderType);
    error WrongOutputChain(uint256 outputChainId);
    error FillDeadlineBeforeDepositDeadline(uint32 depositDeadline, uint32 fillDeadline);
    error DepositDeadlinePassed(uint32 depositDeadline);
    error FillDeadlinePassed(uint32 fillDeadline);
    error FillDeadlineNotPassed(uint32 fillDeadline);
    error CallerNotUser(address caller);
    error CallerNotSolver(address caller);
    error SignerNotSolver(address signer);
    error NonceAlreadyUsed(address solver, uint256 nonce);
    error OrderNotDeposited(bytes32 orderId);
    error NothingDeposited(bytes32 orderId);

    /// @param bondToken the ERC-20 of bonds, with 6 decimals
    /// @param minOrder the smallest `outputAmount` of an order, 0 for any
    constructor(address bondToken, uint256 minOrder) SolverBonds(bondToken) EIP712("Settlement", "1") {
        MIN_ORDER = minOrder;
    }

    /// @notice The deposit address of this quote with exactly this signature. Checks nothing.
    function computeDepositAddress(ServiceQuote calldata quote, bytes calldata signature)
        external
        view
        returns (address)
    {
        return Create2.computeAddress(quote.orderId(signature), DEPOSIT_PROXY_CREATION_CODE_HASH);
    }

    /// @notice Uses up one of the caller's own nonces: quotes with it can no longer be deposited or settled.
    function cancelNonce(uint256 nonce) external {
        _useNonce(msg.sender, nonce);
        emit NonceCancelled(msg.sender, nonce);
    }

    /// @notice Takes the quote: pulls `inputAmount` from the caller, who must be the quote's user, up to and including
    /// `depositDeadline`, and reserves a part of the solver's bond.
    function deposit(ServiceQuote calldata quote, bytes calldata signature) external nonReentrant {
        if (msg.sender != quote.user) revert CallerNotUser(msg.sender);
        if (block.timestamp > quote.depositDeadline) revert DepositDeadlinePassed(quote.depositDeadline);
        bytes32 orderId = _acceptQuote(quote, signature, OrderState.DEPOSITED);
        _reserveBond(quote.solver, _bondFor(quote.outputAmount));
        emit Deposited(
            orderId,
            quote.user,
            quote.solver,
            quote.inputToken,
            quote.inputAmount,
            quote.outputToken,
            quote.outputAmount,
            quote.fillDeadline
        );
        _pullExactly(IERC20(quote.inputToken), quote.user, quote.inputAmount);
    }

    /// @notice Delivers a deposited order: the output from the calling solver to the user, the input to the solver, up
    /// to and including `fillDeadline`.
    function fill(bytes32 orderId) external nonReentrant {
        Order storage order = _depositedOrder(orderId);
        if (msg.sender != order.solver) revert CallerNotSolver(msg.sender);
        if (block.timestamp > order.fillDeadline) revert FillDeadlinePassed(order.fillDeadline);
        order.state = OrderState.SETTLED;
        _releaseBond(order.solver, _bondFor(order.outputAmount));
        emit Settled(orderId, order.user, order.solver);
        IERC20(order.outputToken).safeTransferFrom(order.solver, order.user, order.outputAmount);
        IERC20(order.inputToken).safeTransfer(order.solver, order.inputAmount);
    }

    /// @notice Swaps the tokens at the quote's deposit address, at least `inputAmount`, for the solver's output, up to
    /// and including `fillDeadline`. Anyone may call: the solver has signed and approved the output token.
    /// @dev The solver gets `inputAmount`. What the user sent beyond that goes back to the user.
    function settle(ServiceQuote calldata quote, bytes calldata signature) external nonReentrant {
        if (block.timestamp > quote.fillDeadline) revert FillDeadlinePassed(quote.fillDeadline);
        bytes32 orderId = _acceptQuote(quote, signature, OrderState.SETTLED);
        _requireFreeBond(quote.solver, _bondFor(quote.outputAmount));
        emit Settled(orderId, quote.user, quote.solver);
        IERC20 inputToken = IERC20(quote.inputToken);
        uint256 swept = _sweepDepositAddress(orderId, inputToken);
        if (swept < quote.inputAmount) revert AmountNotReceived(quote.inputToken, swept, quote.inputAmount);
        IERC20(quote.outputToken).safeTransferFrom(quote.solver, quote.user, quote.outputAmount);
        inputToken.safeTransfer(quote.solver, quote.inputAmount);
        if (swept > quote.inputAmount) inputToken.safeTransfer(quote.user, swept - quote.inputAmount);
    }

    /// @notice Ends a deposited order that was not filled by `fillDeadline`: the user gets the input back, and the bond
    /// that was reserved for it. Anyone may call.
    function refund(bytes32 orderId) external nonReentrant {
        Order storage order = _depositedOrder(orderId);
        if (block.timestamp <= order.fillDeadline) revert FillDeadlineNotPassed(order.fillDeadline);
        order.state = OrderState.REFUNDED;
        uint256 slashed = _bondFor(order.outputAmount);
        _slashReservedBond(order.solver, slashed);
        emit Refunded(orderId, order.user, order.inputAmount, slashed);
        IERC20(order.inputToken).safeTransfer(order.user, order.inputAmount);
        BOND_TOKEN.safeTransfer(order.user, slashed);
    }

    /// @notice Gives the user all tokens at the quote's deposit address after `fillDeadline`. Anyone may call, any
    /// number of times: tokens that arrive later, or after a settlement, come back by the same call.
    /// @dev Only the signature is checked: the user's tokens come back for any state of the solver, its bond, the nonce
    /// and the terms. The solver is slashed at the first call for an order that no other call has ended, if
    /// - the full `inputAmount` is there: otherwise a single unit from anyone would cost the solver its 5%;
    /// - the nonce is unused: a quote that was cancelled, or lost to another order, was no longer on offer.
    /// Nothing is reserved for address deposits, so the slash takes at most the unreserved bond.
    /// The first call always ends the order. Later ones only move tokens: no event, no slash.
    function refundAddressDeposit(ServiceQuote calldata quote, bytes calldata signature) external nonReentrant {
        if (block.timestamp <= quote.fillDeadline) revert FillDeadlineNotPassed(quote.fillDeadline);
        bytes32 orderId = _verifySignature(quote, signature);
        uint256 swept = _sweepDepositAddress(orderId, IERC20(quote.inputToken));
        if (swept == 0) revert NothingDeposited(orderId);
        if (orders[orderId].state == OrderState.NONE) {
            uint256 slashed = swept < quote.inputAmount ? 0 : _slashMissedQuote(quote);
            isNonceUsed[quote.solver][quote.nonce] = true;
            _recordOrder(orderId, quote, OrderState.REFUNDED);
            emit Refunded(orderId, quote.user, swept, slashed);
            BOND_TOKEN.safeTransfer(quote.user, slashed);
        }
        IERC20(quote.inputToken).safeTransfer(quote.user, swept);
    }

    /// @dev The common checks of both ways to take a quote. Uses up the nonce and records the order.
    function _acceptQuote(ServiceQuote calldata quote, bytes calldata signature, OrderState state)
        private
        returns (bytes32 orderId)
    {
        if (quote.inputAmount == 0 || quote.outputAmount == 0) revert ZeroAmount();
        if (quote.outputAmount < MIN_ORDER) revert OrderBelowMinimum(quote.outputAmount, MIN_ORDER);
        if (quote.orderType > EXACT_OUTPUT) revert UnknownOrderType(quote.orderType);
        if (quote.outputChainId != block.chainid) revert WrongOutputChain(quote.outputChainId);
        if (quote.fillDeadline < quote.depositDeadline) {
            revert FillDeadlineBeforeDepositDeadline(quote.depositDeadline, quote.fillDeadline);
        }
        orderId = _verifySignature(quote, signature);
        _requireRegistered(quote.solver);
        _useNonce(quote.solver, quote.nonce);
        _recordOrder(orderId, quote, state);
    }

    /// @dev 65 bytes, `v` 27 or 28, `s` in the lower half: one signature has one form, and one order id.
    function _verifySignature(ServiceQuote calldata quote, bytes calldata signature)
        private
        view
        returns (bytes32 orderId)
    {
        address signer = ECDSA.recoverCalldata(_hashTypedDataV4(quote.structHash()), signature);
        if (signer != quote.solver) revert SignerNotSolver(signer);
        return quote.orderId(signature);
    }

    function _useNonce(address solver, uint256 nonce) private {
        if (isNonceUsed[solver][nonce]) revert NonceAlreadyUsed(solver, nonce);
        isNonceUsed[solver][nonce] = true;
    }

    function _recordOrder(bytes32 orderId, ServiceQuote calldata quote, OrderState state) private {
        orders[orderId] = Order({
            user: quote.user,
            solver: quote.solver,
            inputToken: quote.inputToken,
            inputAmount: quote.inputAmount,
            outputToken: quote.outputToken,
            outputAmount: quote.outputAmount,
            outputChainId: quote.outputChainId,
            fillDeadline: quote.fillDeadline,
            state: state
        });
    }

    function _depositedOrder(bytes32 orderId) private view returns (Order storage order) {
        order = orders[orderId];
        if (order.state != OrderState.DEPOSITED) revert OrderNotDeposited(orderId);
    }

    /// @dev Empties the deposit address into this contract. Counts the received balance, not the return value of the token.
    function _sweepDepositAddress(bytes32 orderId, IERC20 token) private returns (uint256 swept) {
        address proxy = Create2.computeAddress(orderId, DEPOSIT_PROXY_CREATION_CODE_HASH);
        if (proxy.code.length == 0) new DepositProxy{salt: orderId}();
        uint256 before = token.balanceOf(address(this));
        DepositProxy(proxy).sweep(token);
        return token.balanceOf(address(this)) - before;
    }

    function _slashMissedQuote(ServiceQuote calldata quote) private returns (uint256 slashed) {
        if (isNonceUsed[quote.solver][quote.nonce]) return 0;
        return _slashAvailableBond(quote.solver, _bondFor(quote.outputAmount));
    }

    function _bondFor(uint256 outputAmount) private pure returns (uint256) {
        return Math.mulDiv(outputAmount, BOND_RESERVATION_BPS, 10_000);
    }
}
