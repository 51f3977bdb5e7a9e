import { bytesToHex, erc20Abi, getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settlementAbi, settlementBytecode } from '../../../gen/contracts/settlement.js'
import {
  createDevnetClient,
  type DevAccount,
  devAccounts,
  mined,
} from '../../../packages/cli/src/devnet/deploy.js'
import { RULES, solverAccounts, startChain, type TestChain } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import { commandLine } from '../../support/process/command-line.js'

const [account] = solverAccounts
const DAYS_7 = 7 * 86_400

const keyOf = (solver: DevAccount) => bytesToHex(solver.getHdKey().privateKey ?? new Uint8Array())

/** Runs `bond` on a contract, with the key of an account in the environment. */
function bond({ devnet, contracts }: Pick<TestChain, 'devnet' | 'contracts'>, ...argv: string[]) {
  const place = ['--rpc-url', devnet.rpcUrl, '--settlement', contracts.settlement]
  return commandLine(['bond', ...argv, ...place], { environment: { SOLVER_PRIVATE_KEY: keyOf(account) } })
}

describe.each(RULES)('bond, on the %s contract,', (rules) => {
  let chain: TestChain
  let calls: ReturnType<typeof createCalls>

  beforeAll(async () => {
    chain = await startChain({ bonded: 0, rules })
    calls = createCalls(chain.devnet, chain.contracts.settlement)
  })
  afterAll(() => chain?.stop())

  const shown = async () =>
    JSON.parse((await bond(chain, 'show', '--solver', account.address, '--json')).stdout)
  const refused = async (...argv: string[]) => {
    const { code, stdout, stderr } = await bond(chain, ...argv)
    expect([code, stdout]).toEqual([4, ''])
    return stderr.split('\n').findLast((line) => line.startsWith('error: '))
  }

  it('shows an account without a bond, and the least one', async () => {
    const { code, stdout } = await bond(chain, 'show', '--solver', account.address)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^bond +none$/m)
    expect(stdout).toMatch(/^minimum +1000 bUSD \(1000000000\)$/m)
  })

  it('says before a transaction that the tokens are missing, or the bond is too small', async () => {
    const before = await calls.client.getTransactionCount({ address: account.address })
    expect(await refused('register', '--amount', '1000.5')).toBe(
      `error: ${account.address} has 0 bUSD (0), and not 1000.5 bUSD (1000500000).`,
    )
    expect(await refused('register', '--amount', '999.999999')).toMatch(
      /: (BondBelowMinimum|BelowMinimumBond)\. /,
    )
    expect(await refused('add', '--amount', '1')).toMatch(/: SolverNotRegistered\. /)
    expect(await calls.client.getTransactionCount({ address: account.address })).toBe(before)
  })

  it('registers with a bond in whole tokens, and approves no more', async () => {
    await calls.mint(chain.contracts.bondToken, account.address, 5_000_000_000n)
    const { code, stdout, stderr } = await bond(chain, 'register', '--amount', '3000.5')
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('sending approve of 3000.5 bUSD (3000500000)'),
    ])
    expect(stderr).toContain('sending registerSolver of 3000.5 bUSD (3000500000)')
    expect(stdout).toMatch(/^bond +3000\.5 bUSD \(3000500000\)$/m)
    const allowance = {
      address: chain.contracts.bondToken,
      abi: erc20Abi,
      functionName: 'allowance',
    } as const
    const args = [account.address, chain.contracts.settlement] as const
    expect(await calls.client.readContract({ ...allowance, args })).toBe(0n)
    expect(await refused('register', '--amount', '1000')).toMatch(/: SolverAlreadyRegistered\. /)
  })

  it('adds to it, unstakes a part, and withdraws that after 7 days', async () => {
    expect(JSON.parse((await bond(chain, 'add', '--amount', '0.25', '--json')).stdout)).toMatchObject({
      total: '3000750000',
      free: '3000750000',
    })
    expect(await refused('withdraw')).toMatch(/: (NoUnstakeRequested|NoPendingUnstake)\. /)
    expect(await refused('unstake', '--amount', '4000')).toMatch(/: InsufficientBond\. /)
    const { stdout } = await bond(chain, 'unstake', '--amount', '1000')
    expect(stdout).toMatch(/^unstaking +1000 bUSD \(1000000000\), from 20\d\d-\d\d-\d\d [\d:]+ UTC on$/m)
    const { unlocksAt, unstaking, free } = await shown()
    expect([unstaking, free]).toEqual(['1000000000', '2000750000'])
    expect(await refused('withdraw')).toMatch(/: (UnstakeLocked|UnstakeNotReady)\. /)
    expect(await refused('unstake', '--amount', '1')).toMatch(
      /: (PendingUnstakeExists|UnstakeAlreadyRequested)\. /,
    )
    await calls.client.increaseTime({ seconds: DAYS_7 })
    await calls.client.mine({ blocks: 1 })
    expect((await bond(chain, 'withdraw')).code).toBe(0)
    expect(await shown()).toMatchObject({ total: '2000750000', unstaking: '0', registered: true })
    expect(await calls.balanceOf(chain.contracts.bondToken, account.address)).toBe(2_999_250_000n)
    expect(unlocksAt).toBeGreaterThan(0)
  })
})

it('an allowance of a token such as USDT is set to 0 before it is changed', async () => {
  const chain = await startChain({ bonded: 0 })
  try {
    const old = compileSource('OldToken')
    const bondToken = await old.deploy(chain.devnet)
    const client = createDevnetClient(chain.devnet, devAccounts[0])
    const args = [bondToken, 20n] as const
    const deployment = { abi: settlementAbi, bytecode: settlementBytecode as Hex, args }
    const { contractAddress } = await mined(client, await client.deployContract(deployment))
    const settlement = getAddress(contractAddress ?? '0x')
    const calls = createCalls(chain.devnet, settlement)
    await calls.transact(devAccounts[0], bondToken, old.abi, 'mint', [account.address, 2_000_000_000n])
    await calls.transact(account, bondToken, old.abi, 'approve', [settlement, 7n])
    const contracts = { ...chain.contracts, settlement }
    const { code, stderr } = await bond({ ...chain, contracts }, 'register', '--amount', '1000')
    expect(code).toBe(0)
    expect(stderr.match(/sending approve of [\d.]+ OLD/g)).toEqual([
      'sending approve of 0 OLD',
      'sending approve of 1000 OLD',
    ])
  } finally {
    await chain.stop()
  }
})
