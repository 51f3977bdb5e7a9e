/** Everything that needs viem, in one chunk that is loaded when a user connects a wallet. */

export { isDeclined } from '@quote-aggregator/client'
export { describeWalletError, isFailure, isRefusal } from './describe-error.js'
export { discoverWallets, type WalletOption } from './discover.js'
export {
  connectWallet,
  disconnectWallet,
  readAddress,
  readBalance,
  readGasPaid,
  readGasPrice,
  readOnePrompt,
  readToken,
  reconnectWallet,
  switchChain,
} from './provider.js'
export { planRefund, refundOffer, refundOrder } from './refund-calls.js'
export { CHECKED, deposit, type ReportStep, verifyOffer, type WantedSwap } from './swap-calls.js'
