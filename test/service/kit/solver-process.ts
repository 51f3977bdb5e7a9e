/**
 * A solver as a process, which a test kills. It gets its options as JSON.
 *
 *   tsx test/service/kit/solver-process.ts '{…}'
 */
import { createSolver } from '../../../packages/solver/src/create-solver.js'
import { fixedPrice } from '../../support/solver-kit/fixed-price.js'

const [options = ''] = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)

const solver = createSolver({
  ...JSON.parse(options),
  quote: fixedPrice,
  onDeposit: ({ orderId }) => print(`deposited ${orderId}`),
  onDepositRemoved: ({ orderId }) => print(`removed ${orderId}`),
  onFilled: ({ orderId }) => print(`filled ${orderId}`),
  onMissed: ({ orderId }) => print(`missed ${orderId}`),
  onError: (error) => print(`error ${error}`),
})
await solver.start()
print('started')
