import { readFileSync } from 'node:fs'

/**
 * One instruction, with separate flags: `COPY --from=build a b` has the flag `from` and the words `a` and
 * `b`.
 */
export interface Instruction {
  readonly name: string
  readonly flags: Readonly<Record<string, string>>
  /** The text after the flags, as written. */
  readonly text: string
}

/** The instructions between one FROM and the next. */
export interface Stage {
  readonly name: string | undefined
  /** An image, or the name of an earlier stage. */
  readonly base: string
  readonly instructions: readonly Instruction[]
}

const FLAG = /^--([a-z-]+)=(\S+)\s+/

/** Reads a Dockerfile. It supports only the syntax that our Dockerfile uses. */
export function readDockerfile(path = 'Dockerfile'): Stage[] {
  const text = readFileSync(path, 'utf8').replaceAll(/^#.*\n/gm, '')
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n')
  const stages: { name: string | undefined; base: string; instructions: Instruction[] }[] = []
  for (const line of lines.filter((text) => text !== '')) {
    const instruction = readInstruction(line)
    if (instruction.name === 'FROM') {
      const [base = '', , name] = wordsOf(instruction)
      stages.push({ name, base, instructions: [] })
    } else {
      stages.at(-1)?.instructions.push(instruction)
    }
  }
  return stages
}

function readInstruction(line: string): Instruction {
  const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
  if (name === '') throw new Error(`no instruction: ${line}`)
  const flags: Record<string, string> = {}
  let text = rest
  for (let flag = FLAG.exec(text); flag !== null; flag = FLAG.exec(text)) {
    const [all, key = '', value = ''] = flag
    flags[key] = value
    text = text.slice(all.length)
  }
  return { name, flags, text }
}

/** The words of an instruction without quotes. */
export function wordsOf({ text }: Instruction): string[] {
  return text.split(/\s+/)
}

/** The command of a CMD or HEALTHCHECK, which is a JSON array: signals reach it directly, without a shell. */
export function commandOf({ name, text }: Instruction): string[] {
  return JSON.parse(name === 'HEALTHCHECK' ? text.replace(/^CMD\s+/, '') : text)
}

/** The last instruction of a name in a stage, which is the one that counts. */
export function tipOf({ instructions }: Stage, name: string): Instruction | undefined {
  return instructions.findLast((instruction) => instruction.name === name)
}
