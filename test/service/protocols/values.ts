const ADDRESS = '70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Values that are valid for some field and invalid for others. */
export const VALUES: readonly unknown[] = [
  ...['', ' ', 'x', 'x'.repeat(64), 'x'.repeat(65), 'Größe ✓', 'line\nfeed', '\u007f'],
  ...[
    `0x${ADDRESS}`,
    `0x${ADDRESS.toUpperCase()}`,
    `0X${ADDRESS}`,
    ADDRESS,
    `0x${ADDRESS}0`,
    `0x${ADDRESS.slice(1)}`,
  ],
  ...[`0x${'aB'.repeat(32)}`, `0x${'ab'.repeat(31)}`, `0x${'ag'.repeat(32)}`],
  ...[`0x${'Ab'.repeat(65)}`, `0x${'ab'.repeat(64)}`],
  ...[
    'dcf96d2e-dd7a-4365-86fc-3332145326be',
    'DCF96D2E-DD7A-4365-86FC-3332145326BE',
    'dcf96d2e-dd7a-4365-86fc',
  ],
  ...['EXACT_INPUT', 'EXACT_OUTPUT', 'ORDER_TYPE_EXACT_INPUT', 'UNSPECIFIED', 'exact_input'],
  ...['CONTRACT', 'ADDRESS', 'Deposited', 'Reverted', 'DEPOSITED', 'connected'],
  ...['1', '0', '01', '-1', '+1', '1.0', '1e3', '9'.repeat(77), '9'.repeat(79)],
  ...['http://127.0.0.1:9', 'https://example.org/solver/', `https://example.org/${'x'.repeat(2048)}`],
  ...['ftp://example.org', 'example.org', 'http://', 'http://user:pw@example.org', 'http://example.org/a b'],
  ...['http://example.org/?q', 'http://example.org#h', 'http://example.org/\u0007'],
  ...[0, 1, 7, 1.5, -1, 86_400, 86_401, 2 ** 53 - 1, 2 ** 53],
  ...[true, [], {}],
]
