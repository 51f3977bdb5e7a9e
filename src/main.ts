import { createApp } from './app.js'
import { processEnvironment, readConfig } from './config.js'
import { ConfigError } from './environment.js'

try {
  const app = await createApp(readConfig(processEnvironment()))
  const stop = () => void app.close().then(() => process.exit(0))
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  process.stderr.write(error instanceof ConfigError ? explain(error) : `${(error as Error).stack}\n`)
  process.exit(1)
}

function explain({ mistakes }: ConfigError): string {
  const lines = mistakes.map(({ variable, message }) => `  ${variable} ${message}`)
  return [
    'The service cannot start with this configuration:',
    ...lines,
    'README.md lists every variable, .env.example is a file to begin with.',
    'To try the service without any configuration: npm run demo',
    '',
  ].join('\n')
}
