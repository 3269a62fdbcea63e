"""Components of residuals, which the omnibus test and the audit of groups add up."""
