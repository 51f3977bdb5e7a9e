import { ConfigError, type ConfigIssue } from '../../config/environment.js'

/** What a server was to listen on. */
interface ListenAddress {
  readonly host: string
  readonly port: number
  /** The variable of the port. */
  readonly variable: 'PORT' | 'REPLICA_PORT'
}

/** Turns an error of opening a port into one of its variable or HOST; any other error stays as it is. */
export function toListenIssue(error: unknown, address: ListenAddress): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error
  return new ConfigError([listenIssue(code, address)], { cause: error })
}

function listenIssue(code: string | undefined, { host, port, variable }: ListenAddress): ConfigIssue {
  if (code === 'EADDRINUSE')
    return {
      variable,
      message: `is ${port}, which is in use: set another one, or end the program that has it`,
    }
  if (code === 'EACCES') return { variable, message: `is ${port}, which needs privileges` }
  const isForeign = code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL'
  const fault = isForeign ? 'is not an address of this machine' : `cannot be listened on (${code})`
  const mustBe = 'it must be an address of this machine, or 0.0.0.0 for all of them'
  return { variable: 'HOST', message: `is "${host}", which ${fault}: ${mustBe}` }
}
