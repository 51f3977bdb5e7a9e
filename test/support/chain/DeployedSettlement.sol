// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {DepositProxy} from "../../../packages/cli/contracts/DepositProxy.sol";
import {Order, OrderState} from "../../../packages/cli/contracts/Order.sol";
import {ServiceQuote, ServiceQuoteHash} from "../../../packages/cli/contracts/ServiceQuote.sol";
import {DeployedBonds} from "./DeployedBonds.sol";

/// @title A settlement contract with the rules of deployed contracts of this protocol
/// @notice Written for tests, from what was measured. What differs from the reference contract:
/// - `deposit`: anybody, who pays the input. The fill deadline comes at least a second after the deposit deadline.
/// - `settle`: up to `depositDeadline`. Its caller pays the output, so only the solver has a reason to call it.
/// - A nonce that was used, also by a cancellation, keeps tokens at the deposit address for good.
/// - `refundAddressDeposit` slashes reserved bond too, and releases what it slashes.
/// - Tokens that take a fee are accepted. `Deposited` has the quoted input, the order has what arrived.
/// - Surplus at a deposit address waits for `withdrawExcess`. Other tokens there come back.
/// - Errors have no arguments.
/// @dev Left out: deposits by Permit2 (`depositWithPermit2`) and by ERC-7683 (`openFor`), with the event `Open`.
contract DeployedSettlement is DeployedBonds, EIP712 {
    using SafeERC20 for IERC20;
    using ServiceQuoteHash for ServiceQuote;

    uint256 public immutable MIN_ORDER;
    bytes32 public immutable DEPOSIT_PROXY_CREATION_CODE_HASH = keccak256(type(DepositProxy).creationCode);

    mapping(bytes32 orderId => Order) public orders;
    mapping(address solver => mapping(uint248 word => uint256 bits)) public nonceBitmap;
    mapping(address user => mapping(address token => uint256 amount)) public excessBalances;

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
    event TokensRecovered(bytes32 indexed orderId, address indexed token, address indexed recipient);
    event ExcessDeposit(bytes32 indexed orderId, address indexed user, address token, uint256 amount);
    event ExcessWithdrawn(address indexed user, address indexed token, uint256 amount);

    error BelowMinimumOrder();
    error FillDeadlineBeforeDeposit();
    error InsufficientDeposit();
    error InvalidQuote();
    error InvalidSignature();
    error NoExcessBalance();
    error NonceAlreadyUsed();
    error NotSolver();
    error OrderNotDeposited();
    error OrderNotExpired();
    error OrderNotFound();
    error QuoteExpired();
    error WrongChain();

    /// @dev The same arguments as the reference contract's.
    constructor(address bondToken, uint256 minOrder) DeployedBonds(bondToken) EIP712("Settlement", "1") {
        MIN_ORDER = minOrder;
    }

    function isNonceUsed(address solver, uint256 nonce) public view returns (bool) {
        return nonceBitmap[solver][uint248(nonce >> 8)] & (1 << (nonce & 255)) != 0;
    }

    function computeDepositAddress(ServiceQuote calldata quote, bytes calldata signature)
        external
        view
        returns (address)
    {
        return _depositAddress(quote.orderId(signature));
    }

    function cancelNonce(uint256 nonce) external {
        _useNonce(msg.sender, nonce);
        emit NonceCancelled(msg.sender, nonce);
    }

    /// @notice Cancels the nonces `256 * word + i` for each bit `i` of `mask`, used or not. Emits no event.
    function cancelNonces(uint248 word, uint256 mask) external {
        nonceBitmap[msg.sender][word] |= mask;
    }

    function deposit(ServiceQuote calldata quote, bytes calldata signature) external nonReentrant {
        bytes32 orderId = _checkQuote(quote, signature);
        if (block.timestamp > quote.depositDeadline) revert QuoteExpired();
        _takeQuote(orderId, quote, OrderState.DEPOSITED);
        _reserveBond(quote.solver, quote.outputAmount);
        IERC20 token = IERC20(quote.inputToken);
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), quote.inputAmount);
        orders[orderId].inputAmount = token.balanceOf(address(this)) - before;
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
    }

    function fill(bytes32 orderId) external nonReentrant {
        Order storage order = _depositedOrder(orderId);
        if (msg.sender != order.solver) revert NotSolver();
        if (block.timestamp > order.fillDeadline) revert QuoteExpired();
        order.state = OrderState.SETTLED;
        _releaseBond(order.solver, order.outputAmount);
        IERC20(order.outputToken).safeTransferFrom(msg.sender, order.user, order.outputAmount);
        IERC20(order.inputToken).safeTransfer(order.solver, order.inputAmount);
        emit Settled(orderId, order.user, order.solver);
    }

    function settle(ServiceQuote calldata quote, bytes calldata signature) external {
        _settle(quote, signature, quote.inputAmount);
    }

    /// @notice As `settle`, for less input. The user gets the full output.
    function settleWithTolerance(ServiceQuote calldata quote, bytes calldata signature, uint256 acceptedInputAmount)
        external
    {
        if (acceptedInputAmount == 0 || acceptedInputAmount > quote.inputAmount) revert InvalidQuote();
        _settle(quote, signature, acceptedInputAmount);
    }

    function refund(bytes32 orderId) external nonReentrant {
        Order storage order = _depositedOrder(orderId);
        if (block.timestamp <= order.fillDeadline) revert OrderNotExpired();
        order.state = OrderState.REFUNDED;
        uint256 slashed = _slashBond(order.solver, order.outputAmount);
        IERC20(order.inputToken).safeTransfer(order.user, order.inputAmount);
        BOND_TOKEN.safeTransfer(order.user, slashed);
        emit Refunded(orderId, order.user, order.inputAmount, slashed);
    }

    function refundAddressDeposit(ServiceQuote calldata quote, bytes calldata signature) external nonReentrant {
        bytes32 orderId = _checkQuote(quote, signature);
        if (block.timestamp <= quote.fillDeadline) revert OrderNotExpired();
        uint256 deposited = IERC20(quote.inputToken).balanceOf(_depositAddress(orderId));
        if (deposited == 0) revert InsufficientDeposit();
        _takeQuote(orderId, quote, OrderState.REFUNDED);
        uint256 slashed = deposited < quote.inputAmount ? 0 : _slashBond(quote.solver, quote.outputAmount);
        uint256 swept = _sweep(orderId, quote.inputToken);
        IERC20(quote.inputToken).safeTransfer(quote.user, swept);
        BOND_TOKEN.safeTransfer(quote.user, slashed);
        emit Refunded(orderId, quote.user, swept, slashed);
    }

    /// @notice Gives the user another token that lies at the deposit address, and ends the order without a slash.
    function deployAndRecover(ServiceQuote calldata quote, bytes calldata signature, address token)
        external
        nonReentrant
    {
        if (token == quote.inputToken) revert InvalidQuote();
        bytes32 orderId = _checkQuote(quote, signature);
        if (block.timestamp <= quote.fillDeadline) revert OrderNotExpired();
        _takeQuote(orderId, quote, OrderState.REFUNDED);
        _recover(orderId, quote.user, token);
    }

    /// @notice Gives the user any token that lies at the deposit address of an order that has ended.
    function recoverFromProxy(ServiceQuote calldata quote, bytes calldata signature, address token)
        external
        nonReentrant
    {
        bytes32 orderId = quote.orderId(signature);
        OrderState state = orders[orderId].state;
        if (state != OrderState.SETTLED && state != OrderState.REFUNDED) revert OrderNotFound();
        _recover(orderId, quote.user, token);
    }

    function withdrawExcess(address token) external nonReentrant {
        uint256 amount = excessBalances[msg.sender][token];
        if (amount == 0) revert NoExcessBalance();
        excessBalances[msg.sender][token] = 0;
        IERC20(token).safeTransfer(msg.sender, amount);
        emit ExcessWithdrawn(msg.sender, token, amount);
    }

    function _settle(ServiceQuote calldata quote, bytes calldata signature, uint256 accepted) private nonReentrant {
        bytes32 orderId = _checkQuote(quote, signature);
        if (block.timestamp > quote.depositDeadline) revert QuoteExpired();
        IERC20 token = IERC20(quote.inputToken);
        if (token.balanceOf(_depositAddress(orderId)) < accepted) revert InsufficientDeposit();
        _takeQuote(orderId, quote, OrderState.SETTLED);
        _requireBond(quote.solver, quote.outputAmount);
        uint256 swept = _sweep(orderId, quote.inputToken);
        IERC20(quote.outputToken).safeTransferFrom(msg.sender, quote.user, quote.outputAmount);
        uint256 paid = Math.min(swept, accepted);
        token.safeTransfer(quote.solver, paid);
        if (swept > paid) {
            excessBalances[quote.user][quote.inputToken] += swept - paid;
            emit ExcessDeposit(orderId, quote.user, quote.inputToken, swept - paid);
        }
        emit Settled(orderId, quote.user, quote.solver);
    }

    function _recover(bytes32 orderId, address user, address token) private {
        IERC20(token).safeTransfer(user, _sweep(orderId, token));
        emit TokensRecovered(orderId, token, user);
    }

    /// @dev The checks of all calls with a quote but `recoverFromProxy`. Deadlines are the caller's.
    function _checkQuote(ServiceQuote calldata quote, bytes calldata signature) private view returns (bytes32) {
        if (quote.user == address(0) || quote.inputAmount == 0 || quote.outputAmount == 0) revert InvalidQuote();
        if (quote.outputAmount < MIN_ORDER) revert BelowMinimumOrder();
        if (quote.fillDeadline <= quote.depositDeadline) revert FillDeadlineBeforeDeposit();
        if (quote.outputChainId != block.chainid) revert WrongChain();
        _requireRegistered(quote.solver);
        if (isNonceUsed(quote.solver, quote.nonce)) revert NonceAlreadyUsed();
        address signer = ECDSA.recoverCalldata(_hashTypedDataV4(quote.structHash()), signature);
        if (signer != quote.solver) revert InvalidSignature();
        return quote.orderId(signature);
    }

    function _takeQuote(bytes32 orderId, ServiceQuote calldata quote, OrderState state) private {
        _useNonce(quote.solver, quote.nonce);
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

    function _useNonce(address solver, uint256 nonce) private {
        if (isNonceUsed(solver, nonce)) revert NonceAlreadyUsed();
        nonceBitmap[solver][uint248(nonce >> 8)] |= 1 << (nonce & 255);
    }

    function _depositedOrder(bytes32 orderId) private view returns (Order storage order) {
        order = orders[orderId];
        if (order.state != OrderState.DEPOSITED) revert OrderNotDeposited();
    }

    function _depositAddress(bytes32 orderId) private view returns (address) {
        return Create2.computeAddress(orderId, DEPOSIT_PROXY_CREATION_CODE_HASH);
    }

    function _sweep(bytes32 orderId, address token) private returns (uint256) {
        address proxy = _depositAddress(orderId);
        if (proxy.code.length == 0) new DepositProxy{salt: orderId}();
        uint256 before = IERC20(token).balanceOf(address(this));
        DepositProxy(proxy).sweep(IERC20(token));
        return IERC20(token).balanceOf(address(this)) - before;
    }
}
