/** Everything that needs viem, in one chunk that is loaded when a user connects a wallet. */
export { discoverWallets, type WalletOption } from './discover.js'
export { describeWalletError, isFailure, isRefused } from './errors.js'
export {
  connectWallet,
  disconnectWallet,
  readBalance,
  readToken,
  reconnectWallet,
  switchChain,
} from './provider.js'
export { refundAddressDeposit, refundOrder } from './refund-calls.js'
export {
  payDepositAddress,
  type ReportStep,
  swapByContract,
  verifyOffer,
  type WantedSwap,
} from './swap-calls.js'
