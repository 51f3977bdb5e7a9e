import { CONSOLE_POLICY } from './console.js'

/** The page and Swagger UI need the sources of the console and no others, and send no form. */
export const PAGE_POLICY = `${CONSOLE_POLICY}; form-action 'none'`

/**
 * Makes the page of `/docs`, which shows `/openapi.json` with Swagger UI in the look of the console. Addresses are relative, so
 * that the page works under any prefix that a proxy may add.
 */
export function docsPage({ hasConsole }: { readonly hasConsole: boolean }): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/style.css">
<script src="docs/theme.js"></script>
</head>
<body>
<header><nav aria-label="Site">
${hasConsole ? '<a class="brand" href="./">← Console</a>' : ''}<strong>API reference</strong>
<a href="openapi.json">OpenAPI</a><a href="asyncapi.json">AsyncAPI</a>
</nav></header>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`
}

/** Turns Swagger UI's own dark colours on and off with the theme of the system, before the page is shown. */
export const THEME = `const dark = matchMedia('(prefers-color-scheme: dark)')
const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', apply)
apply()
`

export const START = `const isStream = (system, path, method) =>
  system.specSelectors.specJson().getIn(['paths', path, method, 'x-stream']) === true
const WithoutStreams = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (original, system) => (state, path, method) =>
          !isStream(system, path, method) && original(state, path, method),
      },
    },
  },
})
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  plugins: [WithoutStreams],
})
`

/** The console's tokens over those of Swagger UI. The id wins over all of its rules. */
export const STYLE = `html {
  color-scheme: light dark;
  --background: light-dark(#fafaf8, #101113);
  --raised: light-dark(#ffffff, #17181b);
  --sunken: light-dark(#f1f1ee, #1e2023);
  --border: light-dark(#e0e0db, #2b2d31);
  --border-strong: light-dark(#85877f, #6d7078);
  --text: light-dark(#1a1b19, #ebecee);
  --muted: light-dark(#5d5f59, #a0a3aa);
  --accent: light-dark(#3545c4, #98a5ff);
  --on-accent: light-dark(#ffffff, #0f1120);
  --negative: light-dark(#b3261e, #ff8f85);
  --text-font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --code-font: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
html, html.dark-mode, body, #swagger-ui { margin: 0; background: var(--background); color: var(--text); }
body { font: 400 13px/1.4 var(--text-font); }
header { position: sticky; top: 0; z-index: 2; background: var(--background); border-bottom: 1px solid var(--border); }
nav { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 24px; }
nav, #swagger-ui .wrapper { box-sizing: border-box; max-width: 880px; margin: 0 auto; padding: 0 16px; }
nav { min-height: 48px; }
nav a { color: var(--muted); text-decoration: none; }
nav .brand { color: var(--text); font-weight: 600; }
nav a:hover { color: var(--text); }
a:focus-visible, button:focus-visible, #swagger-ui :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#swagger-ui .swagger-ui { background: none; }
#swagger-ui * { font-family: var(--text-font); text-shadow: none; }
#swagger-ui :is(h1, h2, h3, h4, h5, p, b, i, label, th, td, div, span, li) { color: inherit; }
#swagger-ui :is(code, pre, pre *, textarea, .opblock-summary-path, .opblock-summary-path *, .parameter__name, .parameter__type, .prop-format) { font-family: var(--code-font); font-size: 12px; font-weight: 400; }
#swagger-ui .info { margin: 24px 0 16px; max-width: 68ch; }
#swagger-ui .info :is(p, li, td) { font-size: 13px; line-height: 1.5; color: var(--text); margin: 8px 0; }
#swagger-ui .info .title { font-size: 20px; font-weight: 600; }
#swagger-ui .info .title small { background: var(--sunken); padding: 2px 4px; border-radius: 6px; top: 0; vertical-align: middle; margin-left: 8px; }
#swagger-ui .info .title small pre { color: var(--muted); padding: 0; }
#swagger-ui .info .title small.version-stamp, #swagger-ui .info hgroup a.link, #swagger-ui .servers-title, #swagger-ui .servers, #swagger-ui .schemes-server-container { display: none; }
#swagger-ui :is(.info a, .markdown a, .renderedMarkdown a) { color: var(--accent); font-size: 13px; }
#swagger-ui :is(.markdown, .renderedMarkdown) :is(p, li) { font-size: 13px; line-height: 1.5; max-width: 68ch; }
#swagger-ui :is(.markdown code, .renderedMarkdown code) { background: var(--sunken); color: var(--text); padding: 1px 4px; border-radius: 4px; }
#swagger-ui .scheme-container { background: none; box-shadow: none; margin: 0; padding: 0; }
#swagger-ui .scheme-container .schemes { justify-content: flex-start; }
#swagger-ui .opblock-tag { font-size: 15px; font-weight: 600; padding: 12px 0; margin: 16px 0 8px; border-bottom: 1px solid var(--border); }
#swagger-ui .opblock-tag small { font-size: 13px; color: var(--muted); padding: 0 12px; }
#swagger-ui :is(.opblock, section.models, .model-container) { margin: 0 0 8px; background: var(--raised); border: 1px solid var(--border); border-radius: 6px; box-shadow: none; }
#swagger-ui .opblock:is(*, .is-open) .opblock-summary { padding: 4px 8px; border-color: var(--border); }
#swagger-ui .opblock .opblock-summary-method { min-width: 64px; padding: 4px 0; background: var(--sunken); color: var(--text); border-radius: 4px; font-size: 12px; font-weight: 600; }
#swagger-ui .opblock.opblock-post .opblock-summary-method { background: var(--accent); color: var(--on-accent); }
#swagger-ui .opblock-summary-path { flex-shrink: 1; word-break: break-word; font-weight: 600; }
#swagger-ui .opblock-summary-description { color: var(--muted); font-size: 13px; }
#swagger-ui .tab-header .tab-item.active h4 span::after { background: var(--accent); }
#swagger-ui .opblock-section-header { border-color: var(--border); background: var(--sunken); box-shadow: none; min-height: 36px; padding: 4px 16px; }
#swagger-ui :is(.opblock-section-header h4, .responses-inner h4, .responses-inner h5, section.models h4, table thead tr :is(td, th), .tab li) { font-size: 13px; font-weight: 600; color: var(--text); border-color: var(--border); }
#swagger-ui :is(td, th, .parameter__name, .response-col_status, .prop-type, .model, .model-title) { font-size: 13px; color: var(--text); }
#swagger-ui :is(.parameter__type, .parameter__in, .prop-format, .parameter__deprecated, .model .property, .opblock-external-docs-wrapper) { color: var(--muted); }
#swagger-ui .parameter__name.required::after, #swagger-ui .parameter__name.required span { color: var(--negative); }
#swagger-ui :is(input, select, textarea) { background: var(--raised); color: var(--text); border: 1px solid var(--border-strong); border-radius: 6px; box-shadow: none; font-size: 13px; }
#swagger-ui .btn { background: var(--raised); color: var(--text); border: 1px solid var(--border-strong); border-radius: 6px; box-shadow: none; font-size: 13px; font-weight: 600; }
#swagger-ui .btn.execute { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
#swagger-ui :is(.btn.authorize, .authorization__btn) :is(svg, svg *), #swagger-ui :is(.arrow, .opblock-control-arrow svg, .models-control svg, .expand-operation svg) { fill: var(--muted); }
#swagger-ui :is(.highlight-code, .microlight, .example, pre.version) { background: var(--sunken); }
#swagger-ui :is(.highlight-code pre, .microlight) { background: var(--sunken) !important; color: var(--text) !important; border: 1px solid var(--border); border-radius: 6px; }
#swagger-ui :is(.highlight-code pre, .microlight) span { color: var(--text) !important; }
#swagger-ui .response-col_links { display: none; }
#swagger-ui .json-schema-2020-12 { background: var(--sunken); }
#swagger-ui .json-schema-2020-12 button { background: none; }
#swagger-ui .modal-ux { background: var(--raised); border-color: var(--border); border-radius: 6px; box-shadow: none; }
@media (max-width: 640px) {
  nav { gap: 4px 12px; }
  #swagger-ui .opblock-tag { flex-wrap: wrap; }
  #swagger-ui .opblock-tag small { order: 1; flex: 1 0 100%; padding: 4px 0 0; }
  #swagger-ui .opblock-summary-description { display: none; }
  #swagger-ui :is(.responses-wrapper, .parameters-container, .model-box) { overflow-x: auto; }
}
`
