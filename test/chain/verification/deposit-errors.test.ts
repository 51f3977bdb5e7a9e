import { concatHex, encodeAbiParameters, encodeErrorResult, type Hex, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { depositErrorOf } from '../../../src/chain/verification/deposit-errors.js'
import { INPUT_TOKEN, OUTPUT_TOKEN, USER } from '../../support/solvers/sample-quotes.js'

const QUOTE = { inputToken: INPUT_TOKEN, user: USER }
/** Errors of other calls of the reference contract, and those that say nothing of a quote. */
const OTHERS = [
  'BondBelowMinimum',
  'CallerNotSolver',
  'FillDeadlineNotPassed',
  'FillDeadlinePassed',
  'InvalidShortString',
  'NoUnstakeRequested',
  'NothingDeposited',
  'OrderNotDeposited',
  'ReentrancyGuardReentrantCall',
  'SafeERC20FailedOperation',
  'SolverAlreadyRegistered',
  'StringTooLong',
  'UnstakeAlreadyRequested',
  'UnstakeLocked',
]

/** What a contract reverts with: an error and its arguments, each a word of zeros without them. */
function errorData(signature: string, args: Hex = `0x${'00'.repeat(96)}`): Hex {
  return concatHex([toFunctionSelector(signature), args])
}

function textData(text: string): Hex {
  const abi = [{ type: 'error', name: 'Error', inputs: [{ type: 'string', name: 'text' }] }] as const
  return encodeErrorResult({ abi, args: [text] })
}

const addressArgument = (address: Hex) => encodeAbiParameters([{ type: 'address' }], [address])

test('every error of the reference contract is a refusal by its name, or belongs to another call', () => {
  const errors = settlementAbi.filter((item) => item.type === 'error')
  const refusals = errors.filter(({ name }) => !OTHERS.includes(name))
  expect(errors.length - refusals.length).toBe(OTHERS.length)
  for (const { name, inputs } of refusals) {
    const data = errorData(`${name}(${inputs.map(({ type }) => type).join()})`, addressArgument(INPUT_TOKEN))
    expect(depositErrorOf(data, QUOTE), name).toEqual({ kind: 'refusal', name })
  }
})

test.each([
  ['QuoteExpired()', 'QuoteExpired'],
  ['NonceAlreadyUsed()', 'NonceAlreadyUsed'],
  ['InsufficientBond()', 'InsufficientBond'],
])('%s of a deployed contract is a refusal', (signature, name) => {
  expect(depositErrorOf(errorData(signature, '0x'), QUOTE)).toEqual({ kind: 'refusal', name })
})

test.each(["ECDSA: invalid signature 's' value", 'ECDSA: invalid signature'])(
  'the text %s is a refusal',
  (text) => {
    expect(depositErrorOf(textData(text), QUOTE)).toEqual({ kind: 'refusal', name: text })
  },
)

describe('a failed transfer is', () => {
  test.each([
    'ERC20: insufficient allowance',
    'ERC20: transfer amount exceeds allowance',
    'ERC20: transfer amount exceeds balance',
    'SafeERC20: low-level call failed',
    'TRANSFER_FROM_FAILED',
    'Dai/insufficient-allowance',
    'Insufficient allowance',
    'Insufficient balance',
    'Uni::_transferTokens: transfer amount exceeds balance',
  ])('%s', (text) => {
    expect(depositErrorOf(textData(text), QUOTE)).toEqual({ kind: 'transfer_failure' })
  })

  test.each([
    'ERC20InsufficientAllowance(address,uint256,uint256)',
    'TransferFromFailed()',
    'InsufficientAllowance()',
  ])('%s', (signature) => {
    expect(depositErrorOf(errorData(signature), QUOTE)).toEqual({ kind: 'transfer_failure' })
  })

  test('SafeERC20FailedOperation of the input token, and of no other', () => {
    const failed = (token: Hex) => errorData('SafeERC20FailedOperation(address)', addressArgument(token))
    expect(depositErrorOf(failed(INPUT_TOKEN), QUOTE)).toEqual({ kind: 'transfer_failure' })
    expect(depositErrorOf(failed(OUTPUT_TOKEN), QUOTE)).toBeUndefined()
  })

  test('ERC20InsufficientBalance of the user, and of no other account', () => {
    const signature = 'ERC20InsufficientBalance(address,uint256,uint256)'
    const failed = (account: Hex) => errorData(signature, addressArgument(account))
    expect(depositErrorOf(failed(USER), QUOTE)).toEqual({ kind: 'transfer_failure' })
    expect(depositErrorOf(failed(INPUT_TOKEN), QUOTE)).toBeUndefined()
  })
})

test.each<[string, Hex]>([
  ['an error that is not listed', errorData('NotToday(uint256)')],
  ["Solady's InsufficientBalance(), which may mean a bond", errorData('InsufficientBalance()', '0x')],
  ['a text that is not listed', textData('not today')],
  ['a listed text with more', textData('ERC20: insufficient allowance.')],
  ['a listed text without its end', textData('ERC20: insufficient allowance').slice(0, -64) as Hex],
  ['the selector of a text alone', '0x08c379a0'],
  ['less than a selector', '0x08c3'],
  ['no data', '0x'],
])('%s is not known', (_what, data) => {
  expect(depositErrorOf(data, QUOTE)).toBeUndefined()
})
