/** Browsers have a `FormData` of their own; see `imports` in package.json. */
export default undefined;
