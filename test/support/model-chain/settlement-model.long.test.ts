import { type Abi, type Address, createPublicClient, encodeFunctionData, type Hex, http, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../gen/contracts/deployed-settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import { bytecodeOf, deployer, RULES, type Rules, solverAccounts, user } from '../chain/chain.js'
import { compileSource } from '../chain/deploy-source.js'
import { orderIdOf, type ServiceQuote, signQuote } from '../chain/signed-quote.js'
import { createRandom, type Random } from '../random.js'
import { rounds } from '../rounds.js'
import { createModelChain } from './model-chain.js'
import { createModelContracts } from './model-contracts.js'
import { createModelNode } from './model-node.js'

const [solver, otherSolver, stranger] = solverAccounts
const ACCOUNTS = [solver, otherSolver, user, stranger] as const
const BOND = 3000_000000n
const UNLIMITED = 2n ** 256n - 1n
const GAS = toHex(3_000_000)
const SEQUENCES = rounds(4, 1)
const STEPS = rounds(120, 60)

type Both = Awaited<ReturnType<typeof startBoth>>

/** A compiled contract on anvil, and its model, at the same addresses. */
async function startBoth(rules: Rules) {
  const anvil = await startAnvil()
  const { url: rpcUrl, chainId } = anvil
  const contracts = await deploySettlement({
    rpcUrl,
    chainId,
    deployer,
    minOrder: 1000n,
    ...bytecodeOf(rules),
  })
  const fee = await compileSource('FeeToken').deploy({ rpcUrl, chainId })
  const client = createPublicClient({ transport: http(rpcUrl, { batch: true }), cacheTime: 0 })
  const settlement = lowerCase(contracts.settlement)
  const depositProxyCodeHash = await client.readContract({
    abi: deployedSettlementAbi,
    address: settlement,
    functionName: 'DEPOSIT_PROXY_CREATION_CODE_HASH',
  })
  const [weth, usdc, feeToken] = [contracts.weth, contracts.usdc, fee].map(lowerCase) as [
    Address,
    Address,
    Address,
  ]
  const bondToken = lowerCase(contracts.bondToken)
  const startTime = Number((await client.getBlock()).timestamp)
  const chain = createModelChain(
    createModelContracts({
      rules,
      chainId,
      addresses: { settlement, bondToken, tokens: { [weth]: 0n, [usdc]: 0n, [feeToken]: 1n } },
      depositProxyCodeHash,
      minOrder: 1000n,
    }),
    solver.address,
    startTime,
  )
  const model = createPublicClient({ transport: createModelNode(chain, chainId).transport, cacheTime: 0 })
  return {
    rules,
    chainId,
    chain,
    client,
    model,
    settlement,
    bondToken,
    weth,
    usdc,
    feeToken,
    domain: { name: 'Settlement', version: '1', chainId, verifyingContract: settlement },
    stop: anvil.stop,
  }
}

/** Sends a transaction in a block of its own at a time on both. @returns what came of it on each */
async function act({ client, chain }: Both, from: Address, to: Address, data: Hex, time: number) {
  const request = client.request as (args: { method: string; params: unknown[] }) => Promise<never>
  await request({ method: 'evm_setNextBlockTimestamp', params: [toHex(time)] })
  const hash = await request({ method: 'eth_sendTransaction', params: [{ from, to, data, gas: GAS }] })
  await request({ method: 'evm_mine', params: [] })
  const receipt = await client.getTransactionReceipt({ hash })
  const logs = receipt.logs.map(({ address, topics, data: bytes }) => ({ address, topics, data: bytes }))
  const failure =
    receipt.status === 'success'
      ? undefined
      : await request({
          method: 'eth_call',
          params: [{ from, to, data, gas: GAS }, toHex(receipt.blockNumber)],
        }).then(
          () => 'none',
          (error: { walk(): { data?: unknown } }) => dataOf(error),
        )
  const modelHash = chain.act(lowerCase(from), to, data)
  chain.mine(time)
  const modelReceipt = chain.receipt(modelHash)
  const revert = modelReceipt?.revert
  return {
    compiled: { failure, logs },
    model: {
      failure: revert && chain.contracts.encodeRevert(revert),
      logs: modelReceipt?.logs,
      errorName: revert?.errorName,
    },
  }
}

function dataOf(error: unknown): unknown {
  for (
    let cause = error as { cause?: unknown; data?: unknown } | undefined;
    cause;
    cause = cause.cause as never
  )
    if (typeof cause.data === 'string') return cause.data
  return String(error)
}

const settlementCall = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: deployedSettlementAbi as Abi, functionName, args })
const tokenCall = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: testTokenAbi as Abi, functionName, args })

interface Known {
  readonly quote: ServiceQuote
  readonly signature: Hex
  readonly orderId: Hex
  readonly depositAddress: Address
}

async function randomQuote(
  both: Both,
  random: Random,
  known: readonly Known[],
  time: number,
): Promise<Known> {
  const depositDeadline = time + random.integer(-5, 60)
  const repeated = random.integer(1, 6) === 1 ? known[random.integer(0, known.length)] : undefined
  const owner = random.integer(1, 8) === 1 ? stranger : solver
  const quote: ServiceQuote = {
    solver: owner.address,
    user: user.address,
    inputToken: random.pick([both.weth, both.weth, both.weth, both.feeToken]),
    inputAmount: BigInt(random.integer(random.integer(0, 1), 1_000_000)),
    outputToken: both.usdc,
    outputAmount: BigInt(random.integer(500, random.pick([100_000, 20_000_000_000, 40_000_000_000]))),
    orderType: random.integer(0, 1),
    outputChainId: BigInt(random.integer(1, 8) === 1 ? 5 : both.chainId),
    depositDeadline,
    fillDeadline: depositDeadline + random.integer(-1, 40),
    nonce: repeated?.quote.nonce ?? BigInt(random.integer(0, 2)) * 256n + BigInt(known.length),
  }
  const signer = random.integer(1, 15) === 1 ? user : owner
  const signature = await signQuote(signer, both.domain, quote)
  const { depositAddress } = both.chain.contracts.settlement.identify(quote, signature)
  return { quote, signature, orderId: orderIdOf(quote, signature), depositAddress }
}

/** A transaction: who sends it, to which contract, and what. */
type Act = readonly [from: Address, to: Address, data: Hex]

/** A random transaction, or two of which the second needs the first. */
function randomActs(both: Both, random: Random, known: readonly [Known, ...Known[]]): readonly Act[] {
  const { settlement, weth, usdc } = both
  const { quote, signature, orderId, depositAddress } =
    known[Math.max(0, known.length - random.integer(1, random.pick([1, 2, 8])))] ?? known[0]
  const anybody = random.pick(ACCOUNTS)
  const signed = [quote, signature]
  const call = ({ address }: typeof anybody, functionName: string, ...args: readonly unknown[]): Act => [
    address,
    settlement,
    settlementCall(functionName, args),
  ]
  const transfer = (from: typeof anybody, token: Address, to: Address, amount: bigint): Act => [
    from.address,
    token,
    tokenCall('transfer', [to, amount]),
  ]
  const amount = quote.inputAmount
  const some = random.pick([amount, amount, amount + 3n, amount / 2n])
  const pay = transfer(random.pick([user, stranger]), quote.inputToken, depositAddress, some)
  const bonded = random.pick([solver, otherSolver])
  const mask = (1n << (quote.nonce & 255n)) | BigInt(random.integer(0, 3))
  const token = random.pick([weth, usdc])
  const approval = tokenCall('approve', [settlement, random.pick([0n, 50_000n, UNLIMITED])])
  const ofBoth: readonly (readonly Act[])[] = [
    [call(user, 'deposit', ...signed)],
    [call(user, 'deposit', ...signed)],
    [call(anybody, 'deposit', ...signed)],
    [call(solver, 'fill', orderId)],
    [call(anybody, 'fill', orderId)],
    [pay],
    [pay, call(anybody, 'settle', ...signed)],
    [call(anybody, 'settle', ...signed)],
    [call(anybody, 'refund', orderId)],
    [pay, call(anybody, 'refundAddressDeposit', ...signed)],
    [call(anybody, 'refundAddressDeposit', ...signed)],
    [call(solver, 'cancelNonce', quote.nonce)],
    [[solver.address, usdc, approval]],
    [transfer(user, weth, anybody.address, 1n)],
  ]
  const ofOne: Record<Rules, readonly (readonly Act[])[]> = {
    reference: [
      [call(bonded, 'requestUnstake', random.pick([0n, 5n, BOND / 2n, 2n * BOND]))],
      [call(bonded, 'cancelUnstake')],
      [call(otherSolver, 'registerSolver', random.pick([1n, BOND]))],
    ],
    deployed: [
      [call(solver, 'cancelNonces', quote.nonce >> 8n, mask)],
      [transfer(stranger, usdc, depositAddress, 5n)],
      [call(anybody, 'deployAndRecover', ...signed, token)],
      [call(anybody, 'recoverFromProxy', ...signed, token)],
      [pay, call(solver, 'settleWithTolerance', ...signed, random.pick([some, amount + 3n, 0n]))],
    ],
  }
  return random.pick([...ofBoth, ...ofOne[both.rules]] as [readonly Act[]])
}

/** What both say of everything that a sequence may have changed. */
async function expectEqualState(both: Both, known: readonly Known[]): Promise<void> {
  const { settlement, weth, usdc, feeToken, bondToken } = both
  const addresses = [
    ...ACCOUNTS.map(({ address }) => address),
    settlement,
    ...known.map((one) => one.depositAddress),
  ]
  const calls: [Address, Hex][] = [
    ...[solver, otherSolver].map(
      ({ address }) => [settlement, settlementCall('solvers', [address])] as [Address, Hex],
    ),
    ...known.flatMap(({ quote, signature, orderId }): [Address, Hex][] => [
      [settlement, settlementCall('orders', [orderId])],
      [settlement, settlementCall('isNonceUsed', [solver.address, quote.nonce])],
      [settlement, settlementCall('computeDepositAddress', [quote, signature])],
    ]),
    ...[weth, usdc, feeToken, bondToken].flatMap((token) =>
      addresses.map((address): [Address, Hex] => [token, tokenCall('balanceOf', [address])]),
    ),
    [usdc, tokenCall('allowance', [solver.address, settlement])],
  ]
  const ask = (client: Both['client'] | Both['model']) =>
    Promise.all(calls.map(async ([to, data]) => [to, data, (await client.call({ to, data })).data]))
  expect(await ask(both.model)).toEqual(await ask(both.client))
}

describe.each(RULES)('the model of the %s contract', (rules) => {
  let both: Both
  let time: number

  beforeAll(async () => {
    both = await startBoth(rules)
    await both.client.request({ method: 'evm_setAutomine', params: [false] } as never)
    time = both.chain.head().timestamp
    const { settlement, bondToken, weth, usdc, feeToken } = both
    const tokens = [bondToken, weth, usdc, feeToken]
    for (const { address } of ACCOUNTS)
      for (const token of tokens) {
        await act(both, address, token, tokenCall('mint', [address, 10n ** 15n]), ++time)
        await act(both, address, token, tokenCall('approve', [settlement, UNLIMITED]), ++time)
      }
    for (const { address } of [solver, otherSolver])
      await act(both, address, settlement, settlementCall('registerSolver', [BOND]), ++time)
  })
  afterAll(() => both?.stop())

  it.each(Array.from({ length: SEQUENCES }, (_, index) => index + 1))(
    'agrees with the compiled one after each of any transactions, seed %i',
    async (seed) => {
      const random = createRandom(seed)
      const known: [Known, ...Known[]] = [await randomQuote(both, random, [], time)]
      const outcomes = new Map<string, number>()
      for (let step = 0; step < STEPS; step++) {
        time += random.pick([1, 1, 2, 5, random.integer(1, 60)])
        if (random.integer(1, 4) === 1) known.push(await randomQuote(both, random, known, time))
        for (const [from, to, data] of randomActs(both, random, known)) {
          const { compiled, model } = await act(both, from, to, data, ++time)
          const { errorName = 'success', ...rest } = model
          outcomes.set(errorName, (outcomes.get(errorName) ?? 0) + 1)
          if (errorName === 'SignerNotSolver') expect(compiled.failure).toMatch(/^0x/)
          else expect(rest, `step ${step} of seed ${seed}: ${data}`).toEqual(compiled)
        }
      }
      await expectEqualState(both, known)
      // Most rules were used.
      expect(outcomes.size).toBeGreaterThan(5)
      expect(outcomes.get('success')).toBeGreaterThan(STEPS / 5)
    },
  )
})
