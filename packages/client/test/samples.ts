import type { Address, Hex } from 'viem'
import type { QuoteParams } from '../src/index.js'

/** Messages as an instance sends them. */

export const ADDRESS: Address = `0x${'11'.repeat(20)}`
export const PARAMS: QuoteParams = {
  chainId: 1,
  inputToken: ADDRESS,
  outputToken: ADDRESS,
  orderType: 'EXACT_INPUT',
  amount: 1n,
  user: ADDRESS,
  depositMode: 'CONTRACT',
}

/** An offer of so much. Its order id has that number too. */
export function sampleOffer(output: number) {
  return {
    quote: {
      solver: ADDRESS,
      user: ADDRESS,
      inputToken: ADDRESS,
      inputAmount: '1',
      outputToken: ADDRESS,
      outputAmount: String(output),
      orderType: 0,
      outputChainId: 1,
      depositDeadline: 1800,
      fillDeadline: 1900,
      nonce: '0',
    },
    solverSignature: '0x12',
    depositAddress: ADDRESS,
    orderId: orderIdOf(output),
  }
}

export const orderIdOf = (output: number): Hex => `0x${String(output).padStart(64, '0')}`

/** The message `quote` of a stream. */
export function sampleUpdate(round: number, output: number) {
  return { quoteId: `q-${round}`, round, ...sampleOffer(output), asked: 3, answered: 1 }
}

/** The message `done` of a stream. @param output of the best offer; undefined for a round without one */
export function sampleEnd(round: number, output: number | undefined, alternatives: readonly number[] = []) {
  return {
    quoteId: `q-${round}`,
    round,
    ...(output === undefined ? {} : { bestOrderId: orderIdOf(output), expiresAt: 1_800_000 }),
    alternativeQuotes: alternatives.map(sampleOffer),
    asked: 3,
    quoted: (output === undefined ? 0 : 1) + alternatives.length,
    declined: 0,
    invalid: 0,
    failed: 0,
    late: 1,
  }
}

/** The description of a chain. */
export function sampleChain(chainId: number, settlement: Address = ADDRESS) {
  return {
    chainId,
    name: 'Sample',
    explorerUrl: 'https://explorer.example',
    settlement,
    protocolName: 'Service',
    domain: { name: 'Service', version: '1', chainId, verifyingContract: settlement },
    bondToken: { address: ADDRESS, symbol: 'USDC', decimals: 6 },
    minimumBond: '1000',
    destinationChainIds: [chainId],
    defaultDepositWindow: 300,
    fillWindow: 5,
    quoteTimeoutMs: 1000,
    quoteSoftTimeoutMs: 0,
    maxQuoteFanOut: 10,
    status: 'ok',
    headBlock: 7,
    activeSolvers: 3,
    verifyMax: 'best',
  }
}

export const TRANSACTION = `0x${'cd'.repeat(32)}`

/** An order with one step, as a list has it. Its order id has that number too. */
export function sampleOrder(number: number) {
  return {
    orderId: orderIdOf(number),
    chainId: 1,
    state: 'SETTLED',
    user: ADDRESS,
    solver: ADDRESS,
    inputToken: ADDRESS,
    inputAmount: '5',
    outputToken: ADDRESS,
    outputAmount: '7',
    outputChainId: 1,
    fillDeadline: 1900,
    settled: { blockNumber: 9, blockTime: 1800, transactionHash: TRANSACTION },
  }
}

/** An event as a stream has it. */
export function sampleEvent(type: string, more: object = {}) {
  return {
    type,
    chainId: 1,
    orderId: orderIdOf(1),
    blockNumber: 9,
    logIndex: 2,
    transactionHash: TRANSACTION,
    blockTime: 1800,
    cursor: 'a.2',
    ...more,
  }
}
