import 'uplot/dist/uPlot.min.css'

/** The library that draws charts. It is loaded when a chart comes into view. */
export { default as UPlot } from 'uplot'
