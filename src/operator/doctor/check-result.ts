/** The result of one check. */
export interface CheckResult {
  /** `warn` marks a risk. `fail` prevents the start or the work of the service. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** The subject of the check, such as `RPC_URL_1 head`. */
  readonly check: string
  readonly checkResult: string
  /** What the operator can do. */
  readonly remedy?: string
}

/** The remedy for a variable whose value is wrong. */
export const CORRECT_IT = 'Correct the variable in the environment or in the file .env.'

/** The check results of one subject, in their order. */
export type Report = ReturnType<typeof createReport>

/** Builds it. @param subject prefix of each check's name, such as the variable that an operator would change */
export function createReport(subject: string) {
  const list: CheckResult[] = []
  const note = (status: CheckResult['status']) => (check: string, checkResult: string, remedy?: string) =>
    void list.push({ status, check: `${subject} ${check}`.trim(), checkResult, ...(remedy && { remedy }) })
  const [ok, warn, fail] = [note('ok'), note('warn'), note('fail')]
  return {
    ok,
    warn,
    fail,
    /** Warns of what was found unless it is right. */
    judge: (check: string, isRight: boolean, found: string, remedy: string) =>
      isRight ? ok(check, found) : warn(check, found, remedy),
    list: list as readonly CheckResult[],
  }
}
