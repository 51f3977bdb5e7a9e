import { describe, expect, it } from 'vitest'
import { hasCodeOfNo, isDeclined } from '../../src/deposits/wallet-refusal.js'

/** Ways in which wallets and libraries say that their user has declined. */
const CODES_OF_NO: readonly unknown[] = [
  { code: 4001, message: 'User rejected the request.' },
  { code: '4001', message: 'rejected' },
  { code: 'ACTION_REJECTED', message: 'user rejected action (action="sendTransaction")', reason: 'rejected' },
  { code: -32603, message: 'Internal JSON-RPC error.', data: { code: 4001, message: 'declined' } },
  { message: 'failed', error: { originalError: { code: 4001 } } },
]
const WORDS_OF_NO: readonly unknown[] = [
  'User rejected the request',
  { message: 'MetaMask Tx Signature: User denied transaction signature.' },
  { message: 'User canceled' },
  { code: -32000, message: 'Transaction was rejected by the user' },
  { message: 'Action cancelled by user' },
  { message: 'Ledger device: Condition of use not satisfied (denied by the user?) (0x6985)' },
  { message: '用户取消了操作' },
  // WalletConnect's.
  { code: 5000, message: 'User rejected methods.' },
]
/** What is no decision of the user: the wallet may have sent before. */
const TROUBLE: readonly unknown[] = [
  { code: -32000, message: 'already known' },
  { code: -32000, message: 'transaction rejected: nonce too low' },
  // The standard's words for what a node rejects (EIP-1474).
  { code: -32003, message: 'Transaction rejected' },
  // Of a library whose request was aborted, and of a connection.
  Object.assign(new Error('canceled'), { name: 'CanceledError', code: 'ERR_CANCELED' }),
  'Request cancelled',
  { message: 'Connection refused by device.' },
  { message: 'User closed' },
  { message: 'execution reverted: cancelled by owner' },
  // A token's address, or an account's, may begin as the status of a device.
  { message: 'timeout (transaction={"to":"0x6985884C4392D348587B19cb9eAAf157F13271cd"}, code=TIMEOUT)' },
  { message: 'Transaction 0x6985ab01 was not mined within 50 blocks. It might still be mined.' },
  { code: -32603, message: 'Internal error' },
  { code: 4900, message: 'disconnected' },
  { code: -32000, message: 'nonce 4001 is too low' },
  { message: 'user operation was rejected by the bundler' },
  'The user aborted a request.',
  { message: 'failed to relay for user: websocket connection closed' },
  { message: 'user balance service: access denied' },
  { message: 'closed by the user agent' },
  { message: 'request denied by the user agent' },
  { message: 'connection closed by wallet' },
  { message: 'transaction rejected by the wallet node: already known' },
  { message: 'HTTP 403 denied on your wallet endpoint' },
  { message: 'error code 4001 from bundler: replacement underpriced' },
  // Of a request after the one that has sent.
  { code: -32602, message: 'Invalid params' },
  { code: -32603, message: 'Internal error', data: { code: -32601, message: 'method not found' } },
  { code: 4100, message: 'not authorized' },
  { error: { code: 4200 } },
  { code: 3, message: 'execution reverted', data: '0x1f6d65b6' },
  { code: Symbol('odd'), message: 'odd' },
  'timeout',
  null,
]

describe('a user has declined, says', () => {
  it.each(CODES_OF_NO)('the code of %j', (error) => {
    expect([hasCodeOfNo(error), isDeclined(error)]).toEqual([true, true])
  })

  it.each(WORDS_OF_NO)('the text of %j', (error) => {
    expect([hasCodeOfNo(error), isDeclined(error)]).toEqual([false, true])
  })
})

it.each(TROUBLE)('trouble of a wallet is no decision of its user: %j', (error) => {
  expect(isDeclined(error)).toBe(false)
})
