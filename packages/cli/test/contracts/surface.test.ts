import { getContractAddress, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { startSettlement } from '../../../../test/support/chain/settlement.js'
import { orderIdOf } from '../../../../test/support/chain/signed-quote.js'
import { shared } from '../../../../test/support/shared.js'

const SURFACE = parseAbi([
  'struct ServiceQuote { address solver; address user; address inputToken; uint256 inputAmount; address outputToken; uint256 outputAmount; uint8 orderType; uint256 outputChainId; uint32 depositDeadline; uint32 fillDeadline; uint256 nonce; }',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function solvers(address solver) view returns (uint256 totalBond, uint256 reservedBond, uint256 unstakeAmount, uint40 unstakeTimestamp, bool registered)',
  'function orders(bytes32 orderId) view returns (address user, address solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint256 outputChainId, uint32 fillDeadline, uint8 state)',
  'function isNonceUsed(address solver, uint256 nonce) view returns (bool)',
  'function computeDepositAddress(ServiceQuote quote, bytes signature) view returns (address)',
  'function DEPOSIT_PROXY_CREATION_CODE_HASH() view returns (bytes32)',
  'function BOND_TOKEN() view returns (address)',
  'function availableBond(address solver) view returns (uint256)',
  'function BOND_RESERVATION_BPS() view returns (uint256)',
  'function MIN_ORDER() view returns (uint256)',
  'event Deposited(bytes32 indexed orderId, address indexed user, address indexed solver, address inputToken, uint256 inputAmount, address outputToken, uint256 outputAmount, uint32 fillDeadline)',
  'event Settled(bytes32 indexed orderId, address indexed user, address indexed solver)',
  'event Refunded(bytes32 indexed orderId, address indexed user, uint256 inputAmount, uint256 bondSlashed)',
  'event SolverRegistered(address indexed solver, uint256 amount)',
  'event BondAdded(address indexed solver, uint256 amount)',
  'event UnstakeExecuted(address indexed solver, uint256 amount)',
  'event UnstakeRequested(address indexed solver, uint256 amount, uint40 unlockTime)',
  'event UnstakeCancelled(address indexed solver)',
  'event NonceCancelled(address indexed solver, uint256 nonce)',
  'function registerSolver(uint256 amount)',
  'function addBond(uint256 amount)',
  'function requestUnstake(uint256 amount)',
  'function cancelUnstake()',
  'function executeUnstake()',
  'function cancelNonce(uint256 nonce)',
  'function deposit(ServiceQuote quote, bytes signature)',
  'function fill(bytes32 orderId)',
  'function settle(ServiceQuote quote, bytes signature)',
  'function refund(bytes32 orderId)',
  'function refundAddressDeposit(ServiceQuote quote, bytes signature)',
])

const chain = await shared(startSettlement())

describe('the settlement contract', () => {
  it.each(SURFACE.map((item) => [item.type, item.name, item] as const))(
    'has the %s %s',
    (type, name, item) => {
      const actual = settlementAbi.find((candidate) => candidate.type === type && candidate.name === name)
      expect(described(actual)).toEqual(described(item))
    },
  )

  it('has only the listed surface and what ERC-5267 adds', () => {
    const listed = new Set<string>([
      ...SURFACE.map(({ name }) => name),
      'eip712Domain',
      'EIP712DomainChanged',
    ])
    const names = settlementAbi.flatMap((item) =>
      item.type === 'function' || item.type === 'event' ? [item.name] : [],
    )
    expect(names.filter((name) => !listed.has(name))).toEqual([])
  })

  it('answers eip712Domain (ERC-5267) with the domain of the signed quotes', async () => {
    const [fields, name, version, chainId, verifyingContract, salt, extensions] =
      await chain.view.eip712Domain()
    expect(fields).toBe('0x0f')
    expect({ name, version, chainId: Number(chainId), verifyingContract }).toEqual(chain.domain)
    expect(salt).toBe(`0x${'00'.repeat(32)}`)
    expect(extensions).toEqual([])
  })

  it('derives the deposit address by CREATE2 from the order id and the constant creation code hash', async () => {
    const { quote, signature } = await chain.signedQuote()
    const address = getContractAddress({
      opcode: 'CREATE2',
      from: chain.contracts.settlement,
      salt: orderIdOf(quote, signature),
      bytecodeHash: await chain.view.DEPOSIT_PROXY_CREATION_CODE_HASH(),
    })
    expect(await chain.view.computeDepositAddress([quote, signature])).toBe(address)
  })
})

/**
 * An ABI item without the compiler's notes, and without default members that a parsed signature leaves out.
 */
function described(item: unknown): unknown {
  const text = JSON.stringify(item, (key, value) => (key === 'internalType' || !value ? undefined : value))
  return { outputs: [], ...JSON.parse(text) }
}
