const STORAGE_KEY = 'wallet'

/** The wallet of the last visit, by its reverse domain name (EIP-6963); undefined when there is none to connect again. */
export function rememberedWallet(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps which wallet to connect again. @param rdns undefined forgets it */
export function rememberWallet(rdns: string | undefined): void {
  try {
    if (rdns === undefined) localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, rdns)
  } catch {}
}
