import { once } from 'node:events'
import type { Command } from 'commander'
import { CommandFailure } from '../../../packages/cli/src/command-failure.js'
import { EXIT } from '../../../packages/cli/src/exit-codes.js'
import type { CliIo } from '../../../packages/cli/src/io.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { printable } from '../../../packages/cli/src/output/printable.js'
import type { CheckResult } from '../doctor/check-result.js'

/** `doctor`: checks a configuration from the operator's side. */
export function addDoctor(program: Command, io: CliIo): void {
  program
    .command('doctor')
    .description(
      'Checks a configuration before it serves, and changes nothing. Each registered solver gets one quote request.',
    )
    .option('--json', 'JSON on standard output, for scripts')
    .addHelpText(
      'after',
      '\nEach line: what was checked, what was found, what to do.\nwarn: check it. FAIL: the service would not start, or not do its work; exit code 5.',
    )
    .action((options) => examine(io, options))
}

async function examine(io: CliIo, options: { readonly json?: boolean }): Promise<void> {
  const { diagnose } = await import('../doctor/diagnose.js')
  const interrupted = once(io.interruption(), 'abort').then(() => {
    throw new CommandFailure(EXIT.interrupted)
  })
  const checkResults = await Promise.race([diagnose(io.environment()), interrupted])
  const failed = checkResults.filter(({ status }) => status === 'fail').length
  await printResult(io, options, { ok: failed === 0, checkResults }, ({ mark }) =>
    checkResults.map((result) => `${mark(result.status)}  ${printable(toLine(result))}\n`).join(''),
  )
  if (failed === 0) return
  throw new CommandFailure(
    EXIT.unhealthy,
    `${failed} of ${checkResults.length} checks failed: each FAIL says what to do.`,
  )
}

function toLine({ check, checkResult, remedy }: CheckResult): string {
  const sentence = /[.?!]$/.test(checkResult) ? checkResult : `${checkResult}.`
  return `${check}  ${remedy === undefined ? checkResult : `${sentence} ${remedy}`}`
}
