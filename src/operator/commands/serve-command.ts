import type { Command } from 'commander'

/** `serve`: runs the service, which reads its variables and ends with its process by itself. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description(
      'Runs the service until SIGTERM or Ctrl-C. Its variables are those of docs/configuration.md.',
    )
    .addHelpText('after', '\nTo check the configuration before: quote-aggregator doctor')
    .action(async () => {
      await import('../../main.js')
      // It ends the process by itself.
      await new Promise(() => {})
    })
}
