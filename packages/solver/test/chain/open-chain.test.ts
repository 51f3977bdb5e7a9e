import {
  type Address,
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../../gen/contracts/deployed-settlement.js'
import { readChain } from '../../src/chain/open-chain.js'
import type { ChainSettings } from '../../src/solver-options.js'

const SETTLEMENT: Address = `0x${'5e'.repeat(20)}`
const SOLVER: Address = `0x${'a1'.repeat(20)}`
const ZERO_WORD = `0x${'00'.repeat(32)}`
const VIEWS: Readonly<Record<string, unknown>> = {
  eip712Domain: ['0x0f', 'Own', '2', 10n, SETTLEMENT, ZERO_WORD, []],
  DEPOSIT_PROXY_CREATION_CODE_HASH: `0x${'c0'.repeat(32)}`,
  BOND_RESERVATION_BPS: 700n,
  MIN_ORDER: 20n,
}
const REVERTED = { code: 3, message: 'execution reverted', data: '0x' }
const BUSY = { code: -32603, message: 'the upstream is busy' }

type Answer = { readonly error: object } | { readonly result: Hex }

/** A node of a contract without `cancelNonces`. The first calls of a function are answered with what a test says. */
function createNode(first: Readonly<Record<string, readonly Answer[]>>) {
  const left = new Map(Object.entries(first).map(([name, answers]) => [name, [...answers]]))
  const request = async ({ method, params }: { method: string; params: [{ data: Hex }] }) => {
    if (method === 'eth_chainId') return '0xa'
    if (method === 'eth_blockNumber') return '0x64'
    if (method === 'eth_getCode') return '0x6000'
    const { functionName } = decodeFunctionData({ abi: deployedSettlementAbi, data: params[0].data })
    const answer = left.get(functionName)?.shift()
    if (answer !== undefined && 'result' in answer) return answer.result
    if (answer !== undefined || !(functionName in VIEWS)) throw answer?.error ?? REVERTED
    return encodeFunctionResult({
      abi: deployedSettlementAbi,
      functionName,
      result: VIEWS[functionName],
    } as never)
  }
  return createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
}

const callsPerSecond = () => Number.POSITIVE_INFINITY

const open = (first: Parameters<typeof createNode>[0], chainId = 10) =>
  readChain(
    chainId,
    { rpc: '', settlement: SETTLEMENT, tokens: [], cancelAbove: 5n } as object as ChainSettings,
    { client: createNode(first), callsPerSecond, close() {} },
    'Service',
    SOLVER,
  )

describe('a start reads of the contract', () => {
  it('what it has, and what it lacks', async () => {
    expect(await open({})).toMatchObject({
      bondReservationBps: 700n,
      minOrder: 20n,
      hasWords: false,
      cancelAbove: 5n,
      domain: { name: 'Own', version: '2' },
    })
    const absent = { error: REVERTED }
    expect(await open({ BOND_RESERVATION_BPS: [absent], MIN_ORDER: [absent] })).toMatchObject({
      bondReservationBps: 500n,
      minOrder: 0n,
    })
  })

  it('that it ends many quotes at once: where one refund can release the bond of another order, no quote is small', async () => {
    const done = { result: '0x' } as const
    expect(await open({ cancelNonces: [done, done, done] })).toMatchObject({
      hasWords: true,
      cancelAbove: 0n,
    })
  })

  it('nothing, when the node is one of another chain', async () => {
    await expect(open({}, 11)).rejects.toThrow(
      'chains[11].rpc must be a node of chain 11: it answers for chain 10',
    )
  })

  it.each([
    'eip712Domain',
    'DEPOSIT_PROXY_CREATION_CODE_HASH',
    'BOND_RESERVATION_BPS',
    'MIN_ORDER',
    'cancelNonces',
  ])('%s, and ends with the words of a node that fails', async (name) => {
    const failure = { error: BUSY }
    await expect(open({ [name]: [failure] })).rejects.toThrow(
      new RegExp(`^chains\\[10\\]\\.settlement must .*${name} could not be read: .*the upstream is busy`),
    )
    const worded = { error: { ...BUSY, message: 'execution reverted' } }
    await expect(open({ [name]: [worded] })).rejects.toThrow(`${name} could not be read`)
  })

  it('what it has, also from a node that answers nothing at first', async () => {
    const nothing = [{ result: '0x' }] as const
    const first = Object.fromEntries([...Object.keys(VIEWS), 'cancelNonces'].map((name) => [name, nothing]))
    expect(await open(first)).toMatchObject({
      bondReservationBps: 700n,
      minOrder: 20n,
      hasWords: false,
      domain: { name: 'Own' },
    })
  })
})
