import { once } from 'node:events'
import type { Command } from 'commander'
import type { CheckResult } from '../doctor/check-result.js'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import { type CliIo, createPaint } from '../io.js'
import { printable, toJson } from '../printable.js'

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const
const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

/** `doctor`: checks a configuration from the operator's side. */
export function addDoctor(program: Command, io: CliIo): void {
  program
    .command('doctor')
    .description(
      'Checks a configuration before it serves. It looks at variables, RPC endpoints, contracts, clock, database, port and the endpoints of registered solvers, and changes nothing. Each solver gets one quote request.',
    )
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText(
      'after',
      '\nEach line: what was checked, what was found, what to do.\nwarn: check it. FAIL: the service would not start, or not do its work; exit code 5.',
    )
    .action(({ json }: { json?: boolean }) => examine(io, json ?? false))
}

async function examine(io: CliIo, asJson: boolean): Promise<void> {
  const { diagnose } = await import('../doctor/diagnose.js')
  const interrupted = once(io.interruption(), 'abort').then(() => {
    throw new CommandFailure(EXIT.interrupted)
  })
  const checkResults = await Promise.race([diagnose(io.environment()), interrupted])
  const failed = checkResults.filter(({ status }) => status === 'fail').length
  const paint = createPaint(io.stdout, io.environment())
  if (asJson) io.stdout.write(`${toJson({ ok: failed === 0, checkResults }, 2)}\n`)
  else
    for (const checkResult of checkResults)
      io.stdout.write(`${toLine(checkResult, (mark, status) => paint(COLOURS[status], mark))}\n`)
  if (failed === 0) return
  throw new CommandFailure(
    EXIT.unhealthy,
    `${failed} of ${checkResults.length} checks failed: each FAIL says what to do.`,
  )
}

function toLine(
  { status, check, checkResult, remedy }: CheckResult,
  colour: (mark: string, status: CheckResult['status']) => string,
): string {
  const sentence = /[.?!]$/.test(checkResult) ? checkResult : `${checkResult}.`
  const text = remedy === undefined ? checkResult : `${sentence} ${remedy}`
  return `${colour(MARKS[status], status)}  ${printable(check)}  ${printable(text)}`
}
