import { readFile, stat } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import type { LocalAccount } from 'viem'
import { badInput } from './command-failure.js'
import type { CliIo } from './io.js'

const KEY = /^(0x)?[0-9a-f]{64}$/i
/** Options of other programs that take keys as arguments. `--key-file` is not one of them. */
const KEY_OPTION = /^--?(k|key|pk|private-?key|secret(-?key)?|mnemonic)(=|$)/i
const OTHERS_MAY_READ = 0o077

/**
 * Rejects private keys among the arguments, where every user of the machine and the shell's history can read
 * them. Never repeats a rejected argument.
 * @param argv the command's name and its arguments
 */
export function refuseKeys(argv: readonly string[]): void {
  const [command = '', ...args] = argv
  const isForSolvers = ['register', 'unregister', 'results', 'bond'].includes(command)
  const isKey = (text: string) => isForSolvers && KEY.test(text.slice(text.indexOf('=') + 1))
  if (!args.some((text) => KEY_OPTION.test(text) || isKey(text))) return
  throw badInput(
    [
      'A private key is never taken as an argument: other users of this machine, and anyone who reads your shell history, would see it.',
      'If that was a key that holds anything, consider it public and move to a new one.',
      howToGiveKey(),
    ].join('\n'),
  )
}

/**
 * The solver's account: from the key in `--key-file`, else in SOLVER_PRIVATE_KEY.
 * @param keyFile a path, or `-` for standard input
 * @throws CommandFailure when the key is missing or invalid; never with any part of it
 */
export async function readAccount(io: CliIo, keyFile: string | undefined): Promise<LocalAccount> {
  const { source, text } = await readKeyText(io, keyFile)
  const { privateKeyToAccount } = await import('viem/accounts')
  const key = text.trim()
  const noKey = `${source} has no private key: it must be 32 bytes in hex, with or without 0x.`
  if (!KEY.test(key)) throw badInput(noKey)
  try {
    return privateKeyToAccount(`0x${key.replace(/^0x/i, '')}`)
  } catch {
    throw badInput(`${source} has a number that is not a key of secp256k1.`)
  }
}

async function readKeyText(
  io: CliIo,
  keyFile: string | undefined,
): Promise<{ source: string; text: string }> {
  if (keyFile === '-' && io.stdin.isTTY)
    throw badInput('A typed key is visible: let a program write it, such as pass show solver |')
  if (keyFile === '-') return { source: 'Standard input', text: await textOf(io.stdin) }
  if (keyFile !== undefined) return { source: keyFile, text: await readSecretFile(io, '--key-file', keyFile) }
  const text = io.environment().SOLVER_PRIVATE_KEY
  if (text) return { source: 'SOLVER_PRIVATE_KEY', text }
  throw badInput(`This needs the solver's private key. ${howToGiveKey()}`)
}

/** Reads a file with a secret, and warns when others may read it. @param option names the file @throws CommandFailure */
export async function readSecretFile({ stderr }: CliIo, option: string, path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    const { mode } = await stat(path)
    if (mode & OTHERS_MAY_READ) stderr.write(`warning: others may read ${path}: run chmod 600 ${path}\n`)
    return text
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw badInput(`${option} ${path} cannot be read (${code}).`)
  }
}

function howToGiveKey(): string {
  return 'Set SOLVER_PRIVATE_KEY, or name a file with --key-file <path>; --key-file - reads standard input.'
}
