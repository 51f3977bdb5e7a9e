/** What one check has found. */
export interface Finding {
  /** `warn` is worth a look; `fail` keeps the service from starting or from doing its work. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was checked, such as `RPC_URL_1 head`. */
  readonly check: string
  readonly finding: string
  /** What to do about it. */
  readonly cure?: string
}

/** Findings of one subject: what was checked, what was found, what to do. */
export interface Findings {
  ok(check: string, finding: string): void
  warn(check: string, finding: string, cure?: string): void
  fail(check: string, finding: string, cure?: string): void
  readonly list: readonly Finding[]
}

/**
 * Collects what the checks of one subject find, in their order.
 * @param subject begins the name of each check, such as the variable that an operator would change
 */
export function collectFindings(subject: string): Findings {
  const list: Finding[] = []
  const note =
    (status: Finding['status']) =>
    (check: string, finding: string, cure?: string): void => {
      const name = [subject, check].filter((part) => part !== '').join(' ')
      list.push({ status, check: name, finding, ...(cure === undefined ? {} : { cure }) })
    }
  return { ok: note('ok'), warn: note('warn'), fail: note('fail'), list }
}
