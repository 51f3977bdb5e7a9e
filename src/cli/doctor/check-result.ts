/** What one check has found. */
export interface CheckResult {
  /** `warn` is worth a look; `fail` keeps the service from starting or from doing its work. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was checked, such as `RPC_URL_1 head`. */
  readonly check: string
  readonly checkResult: string
  /** What to do about it. */
  readonly remedy?: string
}

/** Findings of one subject: what was checked, what was found, what to do. */
export interface CheckResults {
  ok(check: string, checkResult: string): void
  warn(check: string, checkResult: string, remedy?: string): void
  fail(check: string, checkResult: string, remedy?: string): void
  readonly list: readonly CheckResult[]
}

/**
 * Collects what the checks of one subject find, in their order.
 * @param subject begins the name of each check, such as the variable that an operator would change
 */
export function collectResults(subject: string): CheckResults {
  const list: CheckResult[] = []
  const note =
    (status: CheckResult['status']) =>
    (check: string, checkResult: string, remedy?: string): void => {
      const name = [subject, check].filter((part) => part !== '').join(' ')
      list.push({ status, check: name, checkResult, ...(remedy === undefined ? {} : { remedy }) })
    }
  return { ok: note('ok'), warn: note('warn'), fail: note('fail'), list }
}
