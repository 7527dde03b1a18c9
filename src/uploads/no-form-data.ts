// What `form-data` is where there are no Node streams.
export default undefined;
